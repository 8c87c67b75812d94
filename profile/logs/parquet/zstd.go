package parquet

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// packer compresses pages with zstd as the codec of parquet-go does, but in less memory: that
// codec keeps a window of 8 MiB and twice as much again, for pages of 256 KiB.
type packer struct{}

// zstdWriter is shared: concurrent calls of EncodeAll wait for each other.
var zstdWriter = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(2*pageBytes), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
})

func (packer) String() string { return "ZSTD" }

// CompressionCodec returns the number of zstd in the format.
func (packer) CompressionCodec() format.CompressionCodec { return format.Zstd }

// Encode compresses src into the memory of dst.
func (packer) Encode(dst, src []byte) ([]byte, error) {
	z, err := zstdWriter()
	if err != nil {
		return dst, err
	}
	return z.EncodeAll(src, dst[:0]), nil
}

// Decode decompresses src into the memory of dst. A Table never calls it.
func (packer) Decode(dst, src []byte) ([]byte, error) {
	z, err := zstdReader()
	if err != nil {
		return dst, err
	}
	return z.DecodeAll(src, dst[:0])
}
