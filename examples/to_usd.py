"""Write an object as USD with its mass, colliders and friction, and read its mass back.

Run: python examples/to_usd.py [hammer.usda]   (needs the extra usd)

Open the file with `usdview hammer.usda`, in Blender, or in Isaac Sim by File > Open.
"""

import sys
import tempfile
from pathlib import Path

from pxr import Usd, UsdPhysics

import pushwise as pw

path = Path(sys.argv[1] if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "hammer.usda")
pw.export.write(pw.objects.load("hammer").model, path)

stage = Usd.Stage.Open(str(path))
body = UsdPhysics.MassAPI(stage.GetDefaultPrim())
colliders = [prim for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.CollisionAPI)]
print(f"{path}: {body.GetMassAttr().Get():.3f} kg, {len(colliders)} colliders")
print("centre of mass", body.GetCenterOfMassAttr().Get(), "m")
