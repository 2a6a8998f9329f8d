#!/usr/bin/env python3
"""Makes the small bundle-adjustment problem in this folder; needs only the standard library.

Three cameras look at six points from a few metres; each point is seen by two or three cameras. The files have the
format of those that are made from a Bundle-Adjustment-in-the-Large problem: cameras (3, 9), points (6, 3) and observed
(15, 2) are 8-byte floats, camera (15,) and point (15,) 8-byte integers. The observations are the projections plus a
fixed pattern of errors of up to a pixel, so that the residuals are that pattern with its sign changed.
"""
import math
import os
import struct

CAMERAS = [
    # rotation vector, translation, focal length, k1, k2
    [0.02, -0.05, 0.01, 0.1, -0.2, -4.0, 400.0, -0.1, 0.02],
    [-0.1, 0.3, 0.05, -0.5, 0.1, -5.0, 420.0, 0.05, -0.01],
    [0.15, -0.25, -0.1, 0.4, 0.3, -4.5, 390.0, 0.0, 0.0],
]
POINTS = [[0.3, 0.2, 0.1], [-0.4, 0.5, -0.2], [0.6, -0.3, 0.3], [-0.2, -0.6, 0.2], [0.1, 0.8, -0.4], [-0.7, 0.0, 0.5]]
SEEN = [(c, p) for p in range(6) for c in range(3) if (c + p) % 4 != 3 or p == 5]


def project(camera, x):
    r, t = camera[0:3], camera[3:6]
    theta = math.sqrt(sum(a * a for a in r))
    w = [a / theta for a in r]
    cross = [w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]]
    along = sum(a * b for a, b in zip(w, x)) * (1 - math.cos(theta))
    p = [x[i] * math.cos(theta) + cross[i] * math.sin(theta) + w[i] * along + t[i] for i in range(3)]
    image = [-p[0] / p[2], -p[1] / p[2]]
    d = image[0] ** 2 + image[1] ** 2
    return [camera[6] * (1 + camera[7] * d + camera[8] * d * d) * a for a in image]


def save(name, descr, code, shape, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (descr, ", ".join(map(str, shape)) + ("," if len(shape) == 1 else ""))
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin1"))
        out.write(struct.pack("<%d%s" % (len(values), code), *values))


def main():
    observed = []
    for i, (c, p) in enumerate(SEEN):
        x, y = project(CAMERAS[c], POINTS[p])
        observed += [x + ((i * 7) % 5 - 2) / 2, y + ((i * 3) % 7 - 3) / 3]
    save("cameras.npy", "<f8", "d", (3, 9), [a for camera in CAMERAS for a in camera])
    save("points.npy", "<f8", "d", (6, 3), [a for point in POINTS for a in point])
    save("camera.npy", "<i8", "q", (len(SEEN),), [c for c, _ in SEEN])
    save("point.npy", "<i8", "q", (len(SEEN),), [p for _, p in SEEN])
    save("observed.npy", "<f8", "d", (len(SEEN), 2), observed)


main()
