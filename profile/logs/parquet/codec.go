package parquet

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
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
		dst, err = unlz4(makeRoom(dst, raw), src, raw)
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

// unlz4 decompresses an LZ4 block
// (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md) to at most raw
// bytes: a token with two lengths, literals, then a copy from before.
func unlz4(dst, src []byte, raw int) ([]byte, error) {
	for i := 0; i < len(src); {
		token := src[i]
		i++
		lit, i2, ok := lz4Length(src, i, int(token>>4))
		if !ok || lit > len(src)-i2 || lit > raw-len(dst) {
			return dst, errCut
		}
		dst = append(dst, src[i2:i2+lit]...)
		if i = i2 + lit; i == len(src) {
			return dst, nil
		}
		if len(src)-i < 2 {
			return dst, errCut
		}
		back := int(binary.LittleEndian.Uint16(src[i:]))
		n, i3, ok := lz4Length(src, i+2, int(token&15))
		n += 4
		if !ok || back == 0 || back > len(dst) || n > raw-len(dst) {
			return dst, errCut
		}
		for ; n > 0; n -= back { // a copy may overlap its own output
			from := len(dst) - back
			dst = append(dst, dst[from:from+min(n, back)]...)
		}
		i = i3
	}
	return dst, nil
}

func lz4Length(src []byte, i, n int) (length, next int, ok bool) {
	if n < 15 {
		return n, i, true
	}
	for i < len(src) && n < maxPage {
		b := src[i]
		i++
		n += int(b)
		if b < 255 {
			return n, i, true
		}
	}
	return 0, i, false
}
