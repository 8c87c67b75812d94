//go:build !js

package trace

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

func newZstd(r io.Reader) (io.Reader, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
}
