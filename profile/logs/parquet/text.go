package parquet

import (
	"bytes"
	"errors"
	"io"

	"capcli/profile/logs/trace"
)

// TextOf returns a table as CSV: it unpacks gzip and zstd, and converts Parquet.
func TextOf(in *trace.Input) (io.Reader, error) {
	var head []byte
	if in.At != nil {
		head = make([]byte, trace.HeadBytes)
		n, err := in.At.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		head = head[:n]
	} else {
		head = make([]byte, 4)
		n, err := io.ReadFull(in.R, head)
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		head = head[:n]
		in.R = io.MultiReader(bytes.NewReader(head), in.R)
	}
	if !IsParquet(head) && !IsParquet(trace.PlainHead(in.Name, head)) {
		return trace.Unpack(*in)
	}
	if in.At == nil || !IsParquet(head) {
		if err := Hold(in); err != nil {
			return nil, err
		}
	}
	return NewCSV(in.At, in.Size)
}
