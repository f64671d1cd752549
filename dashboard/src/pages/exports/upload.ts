// The upload of a file with its progress, which `fetch` cannot tell.
import { Problem, problemOf, type Replay, session } from "../../lib/api";

export function upload(file: File, progress: (share: number) => void): Promise<Replay> {
  const form = new FormData();
  form.append("file", file);
  const request = new XMLHttpRequest();
  return new Promise((resolve, reject) => {
    request.open("POST", "/api/replays");
    request.upload.onprogress = (event) => event.lengthComputable && progress(event.loaded / event.total);
    request.onerror = () => reject(new Problem(0, "unreachable", "", null));
    request.onload = () => {
      if (request.status === 401) session.value = null;
      if (request.status === 201) resolve(JSON.parse(request.responseText));
      else reject(problemOf(request.status, request.responseText));
    };
    request.send(form);
  });
}
