package parquet

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// zstdReader decompresses at most as much as a page may hold. Several goroutines may call
// DecodeAll at once.
var zstdReader = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPage+1),
		zstd.WithDecoderMaxWindow(maxPage), zstd.WithDecodeAllCapLimit(true))
})

// unpack decompresses src to exactly raw bytes, in the memory of the empty slice dst where it is
// large enough. It fails for any other length. The codecs of parquet-go are not used: they grow
// their output as long as there is input.
func unpack(codec format.CompressionCodec, dst, src []byte, raw int) ([]byte, error) {
	var err error
	switch codec {
	case format.Snappy:
		if n, err := snappy.DecodedLen(src); err != nil || n != raw {
			return dst, damaged("snappy page that is not of %d bytes", raw)
		}
		dst, err = snappy.Decode(makeRoom(dst, raw)[:raw], src)
	case format.Zstd:
		var z *zstd.Decoder
		if z, err = zstdReader(); err == nil {
			dst, err = z.DecodeAll(src, makeRoom(dst, raw)[:0:raw])
		}
	case format.Gzip:
		dst, err = gunzip(makeRoom(dst, raw)[:raw], src)
	case format.Lz4Raw:
		var n int
		dst = makeRoom(dst, raw)[:raw]
		n, err = lz4.UncompressBlock(src, dst)
		dst = dst[:n]
	default:
		return dst, refused("write it with zstd or snappy", "compression %v is not read", codec)
	}
	if err != nil {
		return dst, damaged("%v page: %v", codec, err)
	}
	if len(dst) != raw {
		return dst, damaged("%v page of %d bytes, expected %d", codec, len(dst), raw)
	}
	return dst, nil
}

// makeRoom returns an empty slice with room for n bytes, in the memory of b where it is large
// enough.
func makeRoom(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:0]
	}
	return make([]byte, 0, n)
}

func gunzip(dst, src []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return dst[:0], err
	}
	n, err := io.ReadFull(z, dst)
	if err != nil {
		return dst[:n], err
	}
	var more [1]byte
	if n, err := z.Read(more[:]); n > 0 {
		return append(dst, more[0]), nil
	} else if err != nil && !errors.Is(err, io.EOF) {
		return dst, err
	}
	return dst, nil
}
