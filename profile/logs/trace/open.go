package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"capcli"
)

// HeadBytes is the number of bytes from which the format of a file is detected.
const HeadBytes = 64 << 10

// Peek returns the first HeadBytes of in, without decompressing them. The input can still
// be read from the start.
func Peek(in *Input) []byte {
	buf := bufio.NewReaderSize(in.R, HeadBytes)
	in.R = buf
	head, _ := buf.Peek(HeadBytes) // an error comes again when in is read
	return head
}

// PlainHead returns the decompressed head, or nil where head cannot be decompressed.
func PlainHead(name string, head []byte) []byte {
	r, err := Unpack(Input{Name: name, R: bytes.NewReader(head)})
	if err != nil {
		return nil
	}
	out := make([]byte, HeadBytes)
	n, err := io.ReadFull(r, out)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return out[:n]
}

// Open returns a Reader of in. It decompresses gzip and zstd, and detects the format when o
// does not name it. It fails with a *capcli.InputError where in cannot be a log (empty, not
// text, no known format), and with an *capcli.UnknownError for an unknown o.Format.
func Open(in Input, o Options) (*Reader, error) {
	if in.R == nil && in.At == nil {
		return nil, fmt.Errorf("opening trace %q: no reader given", in.Name)
	}
	r := newReader(in, o)
	if err := r.unpack(); err != nil {
		return nil, err
	}
	head := r.text.Head(HeadBytes)
	if len(head) == 0 {
		if err := r.endError(); err != nil {
			return nil, err
		}
		return nil, r.fault(0, "", "the file is empty: expected a job log", "check how it was exported")
	}
	if err := r.choose(head); err != nil {
		return nil, err
	}
	if !r.format.Binary {
		if err := r.checkText(head); err != nil {
			return nil, err
		}
		r.findDates(head)
	}
	return r, nil
}

// Unpack returns the decompressed content of a file that may be packed with gzip or zstd,
// under the limits of a job log. It fails where the packed data has no valid start.
func Unpack(in Input) (io.Reader, error) {
	r := newReader(in, Options{})
	if err := r.unpack(); err != nil {
		return nil, err
	}
	return r.text, nil
}

// unpack sets r.text to the decompressed stream.
func (r *Reader) unpack() error {
	src := r.in.R
	if src == nil {
		src = io.NewSectionReader(r.in.At, 0, r.in.Size)
	}
	raw := &meter{r: src}
	t := capcli.NewLineReader(raw)
	head := t.Head(6)
	var plain io.Reader
	var err error
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		r.packed = "gzip"
		plain, err = newGunzip(t, raw)
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		r.packed = "zstd"
		plain, err = newZstd(t)
	default:
		r.text = t
		return nil
	}
	if err != nil {
		r.text = capcli.NewLineReader(nil)
		r.text.Fail(err) // nothing was decompressed yet
		return r.endError()
	}
	r.text = capcli.NewLineReader(&guard{plain: plain, raw: raw})
	return nil
}

// choose sets the format: the one that the options name, or the one detected from head.
func (r *Reader) choose(head []byte) error {
	name := r.o.Format
	if name == "" {
		var err error
		if name, err = r.sniff(head); err != nil {
			return err
		}
	}
	format, err := Formats.Get(name)
	if err != nil {
		return err
	}
	if err := CheckCount(name, 1+len(r.o.More)); err != nil {
		return err
	}
	if !format.Tagged && len(r.o.Tags) > 0 {
		return &capcli.RequestError{Field: "tag", Text: r.o.Tags[0].Name + ": the format " + name + " has no tags", Hint: "import the log as csv, parquet or jsonl with a column for each tag"}
	}
	r.format, r.rep.Format = format, name
	return nil
}

// CheckCount reports an error if a format does not read so many files together. "" is a format that is
// not known yet.
func CheckCount(format string, files int) error {
	if f, err := Formats.Get(format); files > 1 && format != "" && err == nil && !f.Several {
		return &capcli.RequestError{Text: fmt.Sprintf("format %s reads one file at a time, found %d", format, files), Hint: "put them together first, or import them one by one"}
	}
	return nil
}

// sniff returns the name of the format detected from head. A header without our names that
// Options.Map translates is csv or jsonl. It fails where no format matches.
func (r *Reader) sniff(head []byte) (string, error) {
	if len(r.o.Columns) > 0 {
		return "sacct", nil
	}
	known, mapped := "", false
	for _, e := range Formats.All() {
		if known == "" && e.Value.Sniff != nil && e.Value.Sniff(head) {
			known, mapped = e.Name, e.Value.Mapped
		}
	}
	if len(r.o.Map) > 0 && !mapped {
		if first := beginsJSON(head); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
			return "jsonl", nil
		}
		return "csv", nil
	}
	if known != "" {
		return known, nil
	}
	if err := r.checkText(head); err != nil {
		return "", err
	}
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	hint := "name it with --format; formats: " + strings.Join(Formats.Names(), ", ")
	if len(headColumns(head)) > 1 {
		hint += "; or give its columns our names: --map submit=their_name,gpus=their_name,run_s=their_name"
	}
	if bytes.Count(first, []byte{'|'}) >= 3 || bytes.IndexByte(first, 0x1f) >= 0 {
		hint = "if it is a sacct dump without a header, name its columns with --columns-in, the list given to sacct --format"
	}
	return "", r.fault(1, "", fmt.Sprintf("the format is not recognised: the file begins with %q", shorten(first)), hint)
}

// checkText returns an error if head is not text; the error names the type of file.
func (r *Reader) checkText(head []byte) error {
	kind := ""
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		kind = "a zip archive"
	case bytes.HasPrefix(head, []byte("BZh")):
		kind = "bzip2"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ")):
		kind = "xz"
	case bytes.HasPrefix(head, []byte("PAR1")):
		kind = "parquet"
	case len(head) > 262 && string(head[257:262]) == "ustar":
		kind = "a tar archive"
	case len(head) > 3 && (head[0] == 0 && head[2] == 0 && head[1] != 0 && head[3] != 0 || head[1] == 0 && head[3] == 0 && head[0] != 0 && head[2] != 0):
		kind = "UTF-16 text without the byte-order mark that tells it"
	case bytes.IndexByte(head, 0) >= 0:
		kind = "binary data"
	default:
		return nil
	}
	return r.fault(0, "", "expected text, plain or packed with gzip or zstd; found "+kind, "unpack or convert it first")
}

// endError returns the error with which the text ended: nil for the regular end, and for a
// truncated input where Options.AllowCut is set.
func (r *Reader) endError() error {
	err, line := r.text.Err(), r.text.Line()+1
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return nil
	case errors.Is(err, capcli.ErrLongLine):
		return r.fault(line, "", err.Error(), "check that this is a job log")
	case errors.Is(err, errTooBig):
		return r.fault(line, "", err.Error(), "unpack it, check it, and give it plain")
	case errors.Is(err, io.ErrUnexpectedEOF) && r.packed != "":
		return r.CutShort(fmt.Sprintf("is cut short: the %s data ends in the middle of line %d", r.packed, line))
	case r.packed != "":
		e := r.fault(line, "", fmt.Sprintf("the %s data is damaged: %v", r.packed, err), "check the copy: "+r.packed+" -t "+r.in.Name)
		e.Err = err
		return e
	}
	return fmt.Errorf("reading %s: %w", r.in.Name, err)
}

// CutShort marks the report as truncated. It returns the error for a truncated input, or nil and
// a note where Options.AllowCut is set. what says how the input ends.
func (r *Reader) CutShort(what string) error {
	r.rep.Cut = true
	if r.o.AllowCut {
		r.Note("the file " + what + "; what comes after is missing")
		return nil
	}
	var hint strings.Builder
	if r.lastID != "" {
		fmt.Fprintf(&hint, "last whole job: %s, submitted %s\n", shorten([]byte(r.lastID)), r.lastSubmit)
	}
	if r.packed != "" {
		fmt.Fprintf(&hint, "check the copy: %s -t %s\n", r.packed, r.in.Name)
	}
	hint.WriteString("jobs after it are missing, so waits and demand would be too low; to go on with what is there: --allow-cut")
	return r.fault(0, "", what, hint.String())
}

// fault returns an InputError about a line and a field of the input. Line 0 is the whole
// input, field "" the whole line.
func (r *Reader) fault(line int, field, text, hint string) *capcli.InputError {
	return &capcli.InputError{File: r.in.Name, Line: line, Field: field, Text: text, Hint: hint}
}

// shorten returns at most the first 60 bytes of b, for a message.
func shorten(b []byte) string {
	const most = 60
	b = bytes.TrimRight(b, "\r\n")
	if len(b) <= most {
		return string(b)
	}
	return string(b[:most]) + "…"
}
