package main

import (
	"bytes"
	"errors"
	"io"

	"capcli"
	"capcli/profile/parquet"
	"capcli/profile/trace"
)

// openText opens a bill or a file of use as CSV text: plain, gzip or zstd, and
// Parquet as the CSV that it would be.
func openText(e *env, name string) (io.Reader, string, io.Closer, error) {
	in, done, err := openInput(e, name)
	if err != nil {
		return nil, "", nil, err
	}
	r, err := textOf(&in)
	if err != nil {
		var fault *capcli.InputError
		if errors.As(err, &fault) && fault.File == "" {
			named := *fault
			named.File = in.Name
			err = &named
		}
		return nil, "", nil, errors.Join(err, done.Close())
	}
	return r, in.Name, done, nil
}

func textOf(in *trace.Input) (io.Reader, error) {
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
	if !parquet.IsParquet(head) && !parquet.IsParquet(trace.PlainHead(in.Name, head)) {
		return trace.Unpack(*in)
	}
	if in.At == nil || !parquet.IsParquet(head) {
		if err := parquet.Hold(in); err != nil {
			return nil, err
		}
	}
	return parquet.NewCSV(in.At, in.Size)
}
