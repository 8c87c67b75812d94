package requests

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"capcli"
)

func init() {
	Formats.Add("jsonl", "JSON objects, one a line or in a list, with the keys of csv; a dot leads into a nested object: usage.prompt_tokens",
		Format{Sniff: sniffJSONL, Read: readJSONL, General: true})
}

// maxDepth is the most objects in each other that are looked into.
const maxDepth = 4

// sniffJSONL reports whether the first object names a time, tokens in and tokens out.
func sniffJSONL(head []byte) bool {
	first := firstByte(head)
	if first != '{' && first != '[' {
		return false
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	if first == '[' {
		text = text[1:]
	}
	var keys flat
	if !keys.read(json.NewDecoder(bytes.NewReader(text))) && len(keys.names) == 0 {
		return false
	}
	return namesAll(keys.names)
}

// flat is one JSON object with the keys of nested ones joined by dots. Values are as they are written.
type flat struct {
	names  []string
	values [][]byte
}

// read reads the next object. It reports false where there is none that is whole.
func (f *flat) read(d *json.Decoder) bool {
	f.names, f.values = f.names[:0], f.values[:0]
	d.UseNumber()
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		return false
	}
	return f.object(raw) == nil
}

// object adds the members of an object.
func (f *flat) object(raw []byte) error {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' {
		return errors.New("expected a JSON object")
	}
	if !json.Valid(raw) {
		var v any
		return json.Unmarshal(raw, &v) // it says where the fault is
	}
	_, err := f.members("", raw, 0)
	return err
}

// members adds the members of a valid object at the start of b, and returns what follows it.
func (f *flat) members(stem string, b []byte, depth int) (rest []byte, err error) {
	for b = skipBlanks(b[1:]); b[0] != '}'; {
		end := endOfText(b)
		name := string(textOf(b[:end]))
		b = skipBlanks(skipBlanks(b[end:])[1:]) // the colon
		if b[0] == '{' && depth < maxDepth {
			if b, err = f.members(stem+name+".", b, depth+1); err != nil {
				return nil, err
			}
		} else {
			if len(f.names) > capcli.MaxColumns {
				return nil, fmt.Errorf("over %d keys", capcli.MaxColumns)
			}
			end := endOfValue(b)
			f.names, f.values = append(f.names, stem+name), append(f.values, b[:end])
			b = b[end:]
		}
		if b = skipBlanks(b); b[0] == ',' {
			b = skipBlanks(b[1:])
		}
	}
	return b[1:], nil
}

// skipBlanks returns b from its first byte that is no blank.
func skipBlanks(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// endOfText returns the length of the string at the start of b, with its quotes.
func endOfText(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// endOfValue returns the length of the valid value at the start of b.
func endOfValue(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += endOfText(b[i:]) - 1
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // that of the object around it
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
	}
}

// jsonl reads objects; the places of their keys are looked up anew where the keys change.
type jsonl struct {
	r      *Reader
	row    flat
	header []string
	p      Places
	begun  bool
}

func readJSONL(r *Reader) error {
	j := &jsonl{r: r}
	if firstByte(r.text.Head(64)) == '[' {
		return j.list()
	}
	for {
		line, n, ok := r.nextLine()
		if !ok {
			return nil
		}
		if err := j.object(n, line); err != nil {
			return err
		}
	}
}

// maxObject is the most bytes of one object of a list, and of what is read ahead.
const maxObject = 16 << 20

// allowance is a reader that returns at most left bytes.
type allowance struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errors.New("an object is longer than 16 MiB")
	}
	n, err := a.r.Read(p[:min(len(p), a.left)])
	a.left -= n
	return n, err
}

// list reads the objects of a JSON list.
func (j *jsonl) list() error {
	if bytes.HasPrefix(j.r.text.Head(3), []byte("\ufeff")) {
		for range 3 {
			_, _ = j.r.text.ReadByte() // it is there
		}
	}
	src := &allowance{r: j.r.text, left: maxObject}
	d := json.NewDecoder(src)
	if _, err := d.Token(); err != nil {
		return j.r.fault(1, "", "expected a JSON list: "+err.Error(), "check how it was exported")
	}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		src.left = maxObject
		if err := d.Decode(&raw); err != nil {
			if cause := j.r.endError(); cause != nil {
				return cause
			}
			return j.r.fault(j.r.text.Line()+1, "", fmt.Sprintf("the JSON list ends in its object %d: %v", n, err), "check the copy")
		}
		if err := j.object(j.r.text.Line()+1, raw); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return j.r.fault(j.r.text.Line()+1, "", "the JSON list does not end: "+err.Error(), "check the copy")
	}
	return nil
}

// object adds the request of an object.
func (j *jsonl) object(line int, raw []byte) error {
	j.row.names, j.row.values = j.row.names[:0], j.row.values[:0]
	if err := j.row.object(raw); err != nil {
		return j.r.RejectRow(line, "", "expected a request as a JSON object: "+err.Error(), "")
	}
	if !j.begun || !slices.Equal(j.row.names, j.header) {
		if err := j.find(line); err != nil {
			return err
		}
	}
	var c Record
	for i, at := range j.p {
		if at >= 0 {
			c[i] = textOf(j.row.values[at])
		}
	}
	return j.r.AddRecord(line, &c)
}

// find finds the keys of an object. Only the first must have all of them: a failed request may lack its
// tokens.
func (j *jsonl) find(line int) error {
	j.header = slices.Clone(j.row.names)
	p, err := j.r.FindColumns(line, j.header)
	switch {
	case err == nil:
		j.p, j.begun = p, true
		return nil
	case !j.begun:
		return err
	case p[colArrival] < 0:
		return j.r.fault(line, Columns[colArrival], "the object has no time; it has "+strings.Join(capcli.Abridge(j.header, 20), ", "), "mend the row")
	}
	j.p = p
	return nil
}

// textOf returns a JSON value as text: a string without its quotes, null as nothing.
func textOf(v []byte) []byte {
	switch {
	case len(v) == 0 || v[0] == 'n':
		return nil
	case v[0] != '"':
		return v
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	var s string
	if json.Unmarshal(v, &s) != nil {
		return v
	}
	return []byte(s)
}
