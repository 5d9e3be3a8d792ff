"""Why ops have no kernel here: TensorFlow 1.15 can't run them on a CPU either, or they stand for what a program does not see."""

from __future__ import annotations

import fnmatch

# Reasons, and the ops they hold for.
WITHOUT = {
    "needs a TPU": """
        AllToAll CollectivePermute *TPU* Infeed* Outfeed* Prelinearize* WorkerHeartbeat""",
    "only in what XLA compiles": """
        XlaBroadcastHelper XlaConv XlaDequantize XlaDot XlaDynamic* XlaEinsum XlaIf XlaKeyValueSort XlaPad XlaRecv XlaReduce*
        XlaReplicaId XlaSelectAndScatter XlaSelfAdjointEig XlaSend XlaSort XlaSvd XlaWhile _XlaCompile _XlaRun _XlaRecvAtHost
        _XlaSendFromHost""",
    "needs NCCL, for several GPUs": "Nccl* _Nccl*",
    "only in TensorFlow built with MKL": """
        _Mkl* QuantizedConv2D?* QuantizedDepthwiseConv2D* QuantizedMatMul?* RequantizationRangePerChannel RequantizePerChannel""",
    "reads from Google BigQuery": "BigQueryReader GenerateBigQueryReaderPartitions",
    "sets up access to Google Cloud Storage": "GcsConfigure*",
    "between the parts of a step, which the runtime makes": "_Send _Recv _HostSend _HostRecv",
    "shares memory among the ops of one step, which the runtime plans": "_ScopedAllocator*",
    "has no kernel in TensorFlow 1.15": "FilterByLastComponentDataset",
    "made to test definitions; has no kernel in TensorFlow": """
        A Attr Attr[BDEFLMPST]* B Binary ComplexStruct CopyOp DefaultAttrs FiveFloatOutputs FloatInput FloatOutputStringOutput Foo? FuncAttr
        FuncListAttr InPolymorphicTwice Int64Output IntAttr IntInput* IntOutputFloatOutput ListInput ListOutput MixedStruct
        NIn* NPolymorphic* OpWith*DefaultAttr OutT OutTypeList* Polymorphic* RefIn RefInput* RefOut RefOutput* RequiresOlderGraphVersion
        ReservedAttr ReservedInput Restrict Simple SimpleStruct StringListAttr TestStringOutput TwoFloat* TwoInt* TwoRefsIn TypeList*
        Unary""",
}


def reasons(name: str) -> list[str]:
    """Why an op has no kernel; empty for those that have one."""
    return [reason for reason, patterns in WITHOUT.items() if any(fnmatch.fnmatchcase(name, p) for p in patterns.split())]
