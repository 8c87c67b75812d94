package parquet

import (
	"errors"
	"fmt"

	"capcli"
)

// Limits on a file. A file over a limit is refused before memory is allocated for it.
const (
	maxFile    = 1 << 40       // bytes of a file
	maxFooter  = 16 << 20      // bytes of a footer
	maxEntries = 1 << 18       // list entries in a footer, in total
	maxHeader  = 1 << 20       // bytes of one page header
	maxRows    = 1_000_000_000 // rows of a file
	maxPerByte = 1_000         // rows per byte of a file, in files of over freeRows rows
	freeRows   = 1 << 24       // rows that a file of any size may have
	maxGroups  = 32_767        // row groups, the limit of the format
	maxColumns = 4096          // columns
	maxPage    = 128 << 20     // bytes of one page, unpacked
	maxHeld    = 512 << 20     // bytes of all pages held at once
	maxDict    = 1 << 22       // entries of one dictionary
	maxText    = 1 << 20       // bytes of one text
	maxTexts   = 64 << 20      // bytes of a batch of texts with shared prefixes
	maxPiped   = 256 << 20     // bytes, unpacked, of a file that is packed or without random access
)

// damaged returns an error for a file whose bytes are invalid.
func damaged(format string, args ...any) error {
	return &capcli.InputError{
		Text: "damaged: " + fmt.Sprintf(format, args...),
		Hint: "copy or export the file again",
	}
}

// refused returns an error for a file that may be valid but is not supported.
func refused(hint, format string, args ...any) error {
	return &capcli.InputError{Text: fmt.Sprintf(format, args...), Hint: hint}
}

// locateError returns err with the row group and column of the chunk.
func (c *chunk) locateError(err error) error {
	var in *capcli.InputError
	if errors.As(err, &in) {
		e := *in
		e.Text = c.where + ": " + in.Text
		return &e
	}
	return fmt.Errorf("%s: %w", c.where, err)
}

// asDamage returns a decoding error as an input error; an input error is returned as it is.
func asDamage(err error) error {
	var in *capcli.InputError
	if errors.As(err, &in) {
		return err
	}
	return damaged("%v", err)
}
