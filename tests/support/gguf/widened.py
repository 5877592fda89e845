"""What makes llama.cpp compute in float32."""

import gguf
import numpy
import xllamacpp
from gguf.quants import dequantize


def in_float32(params):
    """Cache and attention."""
    params.cache_type_k = params.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED


def widened(source, target):
    """The weights of a file, in another."""
    reader = gguf.GGUFReader(source)
    architecture = reader.fields["general.architecture"].contents()
    writer = gguf.GGUFWriter(target, architecture)
    for name, field in reader.fields.items():
        if name.startswith("GGUF.") or name == "general.architecture":
            continue
        kind = field.types[0]
        if kind == gguf.GGUFValueType.ARRAY:
            writer.add_key_value(name, field.contents(), kind, sub_type=field.types[-1])
        elif name == "general.file_type":
            writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        else:
            writer.add_key_value(name, field.contents(), kind)
    for tensor in reader.tensors:
        shape = [int(size) for size in tensor.shape][::-1]
        values = dequantize(tensor.data, tensor.tensor_type).astype(numpy.float32).reshape(shape)
        writer.add_tensor(tensor.name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
