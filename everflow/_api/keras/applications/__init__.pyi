"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.densenet import DenseNet121 as DenseNet121
from everflow.keras.applications.densenet import DenseNet169 as DenseNet169
from everflow.keras.applications.densenet import DenseNet201 as DenseNet201
from everflow.keras.applications.inception_resnet_v2 import InceptionResNetV2 as InceptionResNetV2
from everflow.keras.applications.inception_v3 import InceptionV3 as InceptionV3
from everflow.keras.applications.mobilenet import MobileNet as MobileNet
from everflow.keras.applications.mobilenet_v2 import MobileNetV2 as MobileNetV2
from everflow.keras.applications.nasnet import NASNetLarge as NASNetLarge
from everflow.keras.applications.nasnet import NASNetMobile as NASNetMobile
from everflow.keras.applications.resnet import ResNet101 as ResNet101
from everflow.keras.applications.resnet import ResNet101V2 as ResNet101V2
from everflow.keras.applications.resnet import ResNet152 as ResNet152
from everflow.keras.applications.resnet import ResNet152V2 as ResNet152V2
from everflow.keras.applications.resnet import ResNet50 as ResNet50
from everflow.keras.applications.resnet import ResNet50V2 as ResNet50V2
from everflow.keras.applications.vgg import VGG16 as VGG16
from everflow.keras.applications.vgg import VGG19 as VGG19
from everflow.keras.applications.xception import Xception as Xception
from everflow._api.keras.applications import densenet as densenet
from everflow._api.keras.applications import imagenet_utils as imagenet_utils
from everflow._api.keras.applications import inception_resnet_v2 as inception_resnet_v2
from everflow._api.keras.applications import inception_v3 as inception_v3
from everflow._api.keras.applications import mobilenet as mobilenet
from everflow._api.keras.applications import mobilenet_v2 as mobilenet_v2
from everflow._api.keras.applications import nasnet as nasnet
from everflow._api.keras.applications import resnet as resnet
from everflow._api.keras.applications import resnet50 as resnet50
from everflow._api.keras.applications import resnet_v2 as resnet_v2
from everflow._api.keras.applications import vgg16 as vgg16
from everflow._api.keras.applications import vgg19 as vgg19
from everflow._api.keras.applications import xception as xception
