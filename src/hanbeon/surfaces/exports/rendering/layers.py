"""Pictures in layers: one in RGB for a PNG, or the three planes of a video frame, which needs no conversion then.

A planar picture has half the bytes of one in RGB, and its parts are converted once instead of with every frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from hanbeon.surfaces.exports.rendering.libraries import library

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMAT = "yuv420p"


class Layer(NamedTuple):
    """An image, and how many times it is halved in both directions; with a mask if it is not opaque."""

    image: Image
    halved: int = 0
    mask: Image | None = None


class Picture(NamedTuple):
    """A picture, or a part to paste into one of the same kind."""

    layers: tuple[Layer, ...]

    @property
    def size(self) -> tuple[int, int]:
        return self.layers[0].image.size

    def copy(self) -> Picture:
        return Picture(tuple(layer._replace(image=layer.image.copy()) for layer in self.layers))

    def paste(self, part: Picture, x: int, y: int) -> None:
        for under, over in zip(self.layers, part.layers, strict=True):
            under.image.paste(over.image, (x >> over.halved, y >> over.halved), over.mask)

    def faded(self, strength: float) -> Picture:
        """A part with its masks weakened."""

        def fade(mask: Image | None) -> Image | None:
            return None if mask is None else mask.point([int(alpha * strength) for alpha in range(256)])

        return Picture(tuple(layer._replace(mask=fade(layer.mask)) for layer in self.layers))


def rgb_picture(image: Image) -> Picture:
    """Return an image in RGB or RGBA as a picture of one layer."""
    mask = image.getchannel("A") if image.mode == "RGBA" else None
    return Picture((Layer(image.convert("RGB"), mask=mask),))


def planar_picture(image: Image) -> Picture:
    """Return an image in RGB or RGBA as the planes of a video frame. Odd sizes get a transparent or black edge."""
    width, height = ((side + 1) // 2 * 2 for side in image.size)
    if (width, height) != image.size:
        image = image.crop((0, 0, width, height))
    mask = image.getchannel("A") if image.mode == "RGBA" else None
    frame = library("av").VideoFrame.from_image(image.convert("RGB")).reformat(format=_FORMAT)
    images = library("PIL.Image")
    layers = []
    for plane, halved in zip(frame.planes, (0, 1, 1), strict=True):
        size = (width >> halved, height >> halved)
        found = images.frombytes("L", size, bytes(plane), "raw", "L", plane.line_size, 1)
        small = mask.resize(size, images.Resampling.BOX) if mask is not None and halved else mask
        layers.append(Layer(found, halved, small))
    return Picture(tuple(layers))


def video_frame(picture: Picture) -> Any:
    """Return a planar picture as a frame of a video."""
    frame = library("av").VideoFrame(*picture.size, _FORMAT)
    for plane, layer in zip(frame.planes, picture.layers, strict=True):
        data = layer.image.tobytes("raw", "L", plane.line_size, 1)
        plane.update(data.ljust(plane.buffer_size, b"\0"))
    return frame
