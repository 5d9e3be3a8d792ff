"""Written by `make index`."""
from typing import Any

from everflow.keras.preprocessing.image_batches import DirectoryIterator as DirectoryIterator
from everflow.keras.preprocessing.image_generator import ImageDataGenerator as ImageDataGenerator
from everflow.keras.preprocessing.image_batches import Iterator as Iterator
from everflow.keras.preprocessing.image_batches import NumpyArrayIterator as NumpyArrayIterator
from everflow.keras.preprocessing.image import apply_affine_transform as apply_affine_transform
from everflow.keras.preprocessing.image import apply_brightness_shift as apply_brightness_shift
from everflow.keras.preprocessing.image import apply_channel_shift as apply_channel_shift
from everflow.keras.preprocessing.image import array_to_img as array_to_img
from everflow.keras.preprocessing.image import img_to_array as img_to_array
from everflow.keras.preprocessing.image import load_img as load_img
from everflow.keras.preprocessing.image import random_brightness as random_brightness
from everflow.keras.preprocessing.image import random_channel_shift as random_channel_shift
from everflow.keras.preprocessing.image import random_rotation as random_rotation
from everflow.keras.preprocessing.image import random_shear as random_shear
from everflow.keras.preprocessing.image import random_shift as random_shift
from everflow.keras.preprocessing.image import random_zoom as random_zoom
from everflow.keras.preprocessing.image import save_img as save_img
