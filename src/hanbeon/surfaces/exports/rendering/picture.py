"""Pictures of scenes: the field, actors with their numbers, clock, score and captions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hanbeon.surfaces.exports.rendering.layers import Picture, rgb_picture
from hanbeon.surfaces.exports.rendering.libraries import library
from hanbeon.surfaces.exports.rendering.replay_format import Actor, Header
from hanbeon.surfaces.exports.rendering.scene import CAPTION_MS, Caption, Scene

if TYPE_CHECKING:
    from PIL.Image import Image

FONT = "hanbeon-gothic.otf"
_GRASS, _STRIPE, _LINE = "#2f7d46", "#337f4b", "#d7e8dc"
_BAR, _INK, _BALL = "#101820", "#ffffff", "#ffffff"
_NOBODY = "#8a93a0"
_STRIPES = 12
_SMOOTH = 4
"""Discs are drawn this much larger and scaled down, which smooths their edges."""
_FADE_MS = 300


class Artist:
    """Draws the scenes of one replay at one size. What does not change is drawn once.

    `kind` makes the pictures, and their parts, from images.
    """

    def __init__(self, header: Header, width: int, height: int, kind: Callable[[Image], Picture] = rgb_picture) -> None:
        self._header, self._width, self._height, self._kind = header, width, height, kind
        self._bar = max(14, height // 24 * 2)
        margin = max(2, height // 40)
        space_w, space_h = width - 2 * margin, height - self._bar - 2 * margin
        self._scale = min(space_w / header.field.width, space_h / header.field.height)
        self._left = (width - header.field.width * self._scale) / 2
        self._top = self._bar + margin + (space_h - header.field.height * self._scale) / 2
        self._radius = max(3, round(height / 45))
        self._colors = {team.id: team.color for team in header.teams}
        self._sprites = {actor.id: kind(self._sprite(actor)) for actor in header.actors}
        self._background = kind(self._draw_background())
        self._caption_parts: dict[Caption, Picture] = {}
        self._head: tuple[tuple[Any, ...], Picture] | None = None

    def draw(self, scene: Scene) -> Picture:
        """Return the picture of a scene."""
        picture = self._background.copy()
        for actor in self._header.actors:
            position = scene.positions.get(actor.id)
            if position is not None:
                sprite = self._sprites[actor.id]
                x = round(self._left + position[0] * self._scale - sprite.size[0] / 2)
                y = round(self._top + position[1] * self._scale - sprite.size[1] / 2)
                picture.paste(sprite, x, max(self._bar, y))
        picture.paste(self._head_of(scene), 0, 0)
        self._paste_captions(picture, scene)
        return picture

    def _draw_background(self) -> Image:
        image, draw = _canvas("RGB", (self._width, self._height), _GRASS)
        field = self._header.field
        left, top = round(self._left), round(self._top)
        right, bottom = round(self._left + field.width * self._scale), round(self._top + field.height * self._scale)
        step = (right - left) / _STRIPES
        for stripe in range(0, _STRIPES, 2):
            draw.rectangle((left + stripe * step, top, left + (stripe + 1) * step, bottom), fill=_STRIPE)
        line = max(1, self._height // 360)
        draw.rectangle((left, top, right, bottom), outline=_LINE, width=line)
        middle, center = (left + right) // 2, (top + bottom) // 2
        draw.line((middle, top, middle, bottom), fill=_LINE, width=line)
        ring = round((bottom - top) / 7)
        draw.ellipse((middle - ring, center - ring, middle + ring, center + ring), outline=_LINE, width=line)
        return image

    def _sprite(self, actor: Actor) -> Image:
        is_ball = actor.team is None
        radius = max(2, self._radius // 2) if is_ball else self._radius
        side = (2 * radius + 2) * _SMOOTH
        image, draw = _canvas("RGBA", (side, side), (0, 0, 0, 0))
        color = _BALL if is_ball else self._colors.get(actor.team or "", _NOBODY)
        draw.ellipse((0, 0, side - 1, side - 1), fill=_BAR if is_ball else _INK)
        edge = _SMOOTH * max(1, radius // 6)
        draw.ellipse((edge, edge, side - 1 - edge, side - 1 - edge), fill=color)
        if actor.number is not None:
            draw.text((side / 2, side / 2), str(actor.number), fill=_INK, font=_font(side // 2), anchor="mm")
        return _scaled(image, 2 * radius + 2)

    def _head_of(self, scene: Scene) -> Picture:
        """The bar with clock and score; drawn again when one of them changes."""
        seconds = scene.t // 1_000
        key = (seconds, *scene.score.items())
        if self._head is None or self._head[0] != key:
            self._head = key, self._kind(self._draw_head(seconds, scene))
        return self._head[1]

    def _draw_head(self, seconds: int, scene: Scene) -> Image:
        image, draw = _canvas("RGB", (self._width, self._bar), _BAR)
        middle, pad, font = self._bar / 2, self._bar // 3, _font(round(self._bar * 0.55))
        clock = f"{seconds // 60:02}:{seconds % 60:02}"
        draw.text((pad, middle), clock, fill=_INK, font=font, anchor="lm")
        x = float(self._width - pad)
        for team in reversed(self._header.teams):
            text = f"{team.name} {scene.score.get(team.id, 0)}"
            draw.text((x, middle), text, fill=_INK, font=font, anchor="rm")
            x -= draw.textlength(text, font=font) + pad
            draw.rectangle((x - pad / 2, middle - pad / 2, x + pad / 2, middle + pad / 2), fill=team.color)
            x -= 2 * pad
        room = x - draw.textlength(clock, font=font) - 3 * pad
        title = self._header.title
        while title and draw.textlength(title, font=font) > room:
            title = title[:-1]
        draw.text((2 * pad + draw.textlength(clock, font=font), middle), title, fill=_LINE, font=font, anchor="lm")
        return image

    def _paste_captions(self, picture: Picture, scene: Scene) -> None:
        shown = set(scene.captions)
        self._caption_parts = {each: part for each, part in self._caption_parts.items() if each in shown}
        y = self._height - max(4, self._height // 30)
        for caption in reversed(scene.captions):
            part = self._caption_parts.get(caption)
            if part is None:
                part = self._caption_parts[caption] = self._kind(self._draw_caption(caption))
            width, height = part.size
            y -= height
            age = scene.t - caption.since
            strength = min(1.0, age / _FADE_MS, max(0, CAPTION_MS - age) / _FADE_MS)
            picture.paste(part if strength == 1.0 else part.faded(strength), (self._width - width) // 2, y)
            y -= 2

    def _draw_caption(self, caption: Caption) -> Image:
        font = _font(max(9, self._height // 18))
        pad = max(3, self._height // 60)
        text = caption.text.replace("\n", " ")
        most = self._width - 4 * pad
        while font.getlength(text) > most:
            text = text[: max(1, min(len(text) - 2, int(len(text) * most / font.getlength(text))))] + "…"
        size = (round(font.getlength(text)) + 2 * pad, sum(font.getmetrics()) + pad)
        image, draw = _canvas("RGBA", size, (16, 24, 32, 215))
        draw.rectangle((0, 0, max(2, pad // 2), size[1]), fill=self._colors.get(caption.team or "", _NOBODY))
        draw.text((size[0] / 2, size[1] / 2), text, fill=_INK, font=font, anchor="mm")
        return image


def _canvas(mode: str, size: tuple[int, int], color: Any) -> tuple[Image, Any]:
    image = library("PIL.Image").new(mode, size, color)
    return image, library("PIL.ImageDraw").Draw(image)


def _scaled(image: Image, side: int) -> Image:
    return image.resize((side, side), library("PIL.Image").Resampling.LANCZOS)


@functools.lru_cache(maxsize=32)
def _font(size: int) -> Any:
    fonts = library("PIL.ImageFont")
    path = files("hanbeon.surfaces.exports.rendering").joinpath("fonts", FONT)
    return fonts.truetype(str(path), max(6, size), layout_engine=fonts.Layout.BASIC)
