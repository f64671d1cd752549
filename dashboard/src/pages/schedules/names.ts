// Names of the pages of this surface.
import { named, type Title } from "../../lib/surface";

export const TASKS_TITLE: Title = { en: "Tasks", ko: "태스크" };
export const TASKS = (): string => named(TASKS_TITLE);
