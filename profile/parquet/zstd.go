package parquet

import (
	"sync"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
)

// packer compresses pages as parquet-go's own codec does, with less memory: that
// one keeps a window of 8 MiB and twice as much again, for pages of 256 KiB.
type packer struct{}

// zstdWriter is shared: EncodeAll may be called by many at once, who then wait.
var zstdWriter = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(2*pageBytes), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false))
})

func (packer) String() string { return "ZSTD" }

// CompressionCodec is the format's number of it.
func (packer) CompressionCodec() format.CompressionCodec { return format.Zstd }

// Encode compresses src over dst.
func (packer) Encode(dst, src []byte) ([]byte, error) {
	z, err := zstdWriter()
	if err != nil {
		return dst, err
	}
	return z.EncodeAll(src, dst[:0]), nil
}

// Decode decompresses src over dst. A Table never reads.
func (packer) Decode(dst, src []byte) ([]byte, error) {
	z, err := zstdReader()
	if err != nil {
		return dst, err
	}
	return z.DecodeAll(src, dst[:0])
}
