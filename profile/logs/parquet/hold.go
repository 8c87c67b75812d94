package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"capcli"
	"capcli/profile/logs/trace"
)

// Hold reads a packed file, or one without random access, into memory and lets in read from
// there. It fails with *capcli.InputError where the file is damaged or over 256 MiB unpacked.
func Hold(in *trace.Input) error {
	body, err := trace.Unpack(*in)
	if err != nil {
		return err
	}
	at, size, err := holdBody(*in, body, "check the copy, or unpack it and give the plain file")
	if err != nil {
		return capcli.NameFile(err, in.Name)
	}
	in.R, in.At, in.Size = io.NewSectionReader(at, 0, size), at, size
	return nil
}

// holdBody returns the input with random access, and its size in bytes: the file itself, or a copy in memory
// of its unpacked body. It fails where the copy is over maxPiped bytes. hint says what to do about a damaged body.
func holdBody(in trace.Input, body io.Reader, hint string) (io.ReaderAt, int64, error) {
	if in.At != nil {
		var head [4]byte
		if n, _ := in.At.ReadAt(head[:], 0); n == 4 && IsParquet(head[:]) {
			return in.At, in.Size, nil
		}
	}
	b, err := io.ReadAll(io.LimitReader(body, maxPiped+1))
	var fault *fs.PathError
	switch {
	case errors.As(err, &fault): // an error of the disk, not of the content
		return nil, 0, fmt.Errorf("reading %s: %w", in.Name, err)
	case err != nil:
		return nil, 0, &capcli.InputError{File: in.Name, Text: "expected a whole file, plain or packed; found " + err.Error(), Hint: hint, Err: err}
	case len(b) > maxPiped:
		return nil, 0, refused("give the name of a file that is not packed", "parquet from a pipe or a packed file is held in memory, at most %d MiB of it", maxPiped>>20)
	}
	return bytes.NewReader(b), int64(len(b)), nil
}
