package parquet

import (
	"bytes"
	"fmt"
	"io"

	"capcli"
	"capcli/profile/logs/trace"
)

// maxPacked is the largest Parquet file, unpacked, that is held in memory when it is packed or
// comes from a pipe, in bytes.
const maxPacked = 256 << 20

// Hold reads a packed file, or one without random access, into memory and lets in read from
// there. It fails with *capcli.InputError where the file is damaged or over 256 MiB unpacked.
func Hold(in *trace.Input) error {
	r, err := trace.Unpack(*in)
	if err != nil {
		return err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxPacked+1))
	switch {
	case err != nil:
		return &capcli.InputError{File: in.Name, Text: "expected a whole file, plain or packed; found " + err.Error(), Hint: "check the copy, or unpack it and give the plain file", Err: err}
	case len(b) > maxPacked:
		return &capcli.InputError{File: in.Name, Text: fmt.Sprintf("parquet from a pipe or a packed file is held in memory, at most %d MiB of it", maxPacked>>20), Hint: "give the name of a file that is not packed"}
	}
	in.R, in.At, in.Size = bytes.NewReader(b), bytes.NewReader(b), int64(len(b))
	return nil
}
