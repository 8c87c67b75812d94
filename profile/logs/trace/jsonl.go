package trace

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func init() {
	Formats.Add("jsonl", "capcli's own columns, one JSON object a line or an array of objects; --map reads other keys",
		Format{Sniff: sniffJSONL, Read: readJSONL, Mapped: true, Tagged: true})
}

func sniffJSONL(head []byte) bool {
	text := beginsJSON(head)
	if bytes.HasPrefix(text, []byte("[")) && bytes.HasPrefix(beginsJSON(text[1:]), []byte("{")) {
		return bytes.Contains(text, []byte(`"submit"`)) && bytes.Contains(text, []byte(`"gpus"`))
	}
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"submit"`)) && bytes.Contains(line, []byte(`"gpus"`))
}

// jsonl reads flat JSON objects. Values of our columns are strings or numbers. Other keys of
// an object are skipped and listed in a note.
type jsonl struct {
	r       *Reader
	cols    map[string]int     // index in Columns of each key
	cells   [numColumns][]byte // values of the current object, by index in Columns
	unknown map[string]bool    // skipped keys, at most 100
	tags    keyTagger
}

func readJSONL(r *Reader) error {
	if err := r.checkMap(); err != nil {
		return err
	}
	j := &jsonl{r: r, cols: map[string]int{}, unknown: map[string]bool{}}
	for i, ours := range Columns {
		if theirs, ok := r.o.Map[ours]; ok {
			j.cols[theirs] = i
		} else if _, taken := j.cols[ours]; !taken {
			j.cols[ours] = i
		}
	}
	d := newRecord(r)
	j.tags.begin(r)
	defer j.note()
	if bytes.HasPrefix(beginsJSON(r.text.Head(HeadBytes)), []byte("[")) {
		return j.array(d)
	}
	for row := int64(0); ; {
		line, n, ok := r.Line()
		if !ok {
			return j.tags.check(j.unknown)
		}
		if len(trim(line)) == 0 {
			continue
		}
		row++
		if !j.object(line) {
			if !r.Reject(n, line, "not a JSON object") {
				return nil
			}
			continue
		}
		d.tags = j.tags.row()
		if more, err := d.keep(n, row, line, &j.cells); err != nil || !more {
			return err
		}
	}
}

// array reads the objects of a JSON array.
func (j *jsonl) array(d *record) error {
	row := int64(0)
	return j.r.eachObject("", "the program", func(raw []byte, line int) (bool, error) {
		if row++; !j.object(raw) {
			return j.r.Reject(line, raw, "not a JSON object"), nil
		}
		d.tags = j.tags.row()
		return d.keep(line, row, raw, &j.cells)
	}, func() error { return j.tags.check(j.unknown) })
}

// note adds a note that lists the skipped keys.
func (j *jsonl) note() {
	if len(j.unknown) == 0 {
		return
	}
	j.r.Note("keys not read: " + strings.Join(slices.Sorted(maps.Keys(j.unknown)), ", "))
}

// object parses line, one JSON object, into the cells; null is a nil cell. It reports whether
// line is such an object.
func (j *jsonl) object(line []byte) bool {
	clear(j.cells[:])
	j.tags.clear()
	b, ok := skip(trim(line), '{')
	if !ok {
		return false
	}
	if rest, end := skip(b, '}'); end {
		return len(blank(rest)) == 0
	}
	for {
		key, rest, ok := quotedText(blank(b))
		if !ok {
			return false
		}
		if b, ok = skip(rest, ':'); !ok {
			return false
		}
		var value []byte
		if value, b, ok = jsonValue(blank(b)); !ok {
			return false
		}
		j.put(key, value)
		if rest, more := skip(b, ','); more {
			b = rest
			continue
		}
		rest, ok = skip(b, '}')
		return ok && len(blank(rest)) == 0
	}
}

// put sets the cell of a key, or records the key as unknown.
func (j *jsonl) put(key, value []byte) {
	isTag := j.tags.put(key, value)
	if col, ok := j.cols[string(key)]; ok {
		j.cells[col] = value
		return
	}
	if isTag {
		return
	}
	if len(j.unknown) < 100 && !j.unknown[string(key)] {
		j.unknown[string(key)] = true
	}
}

// skip removes blanks and then c from the front of b. It reports whether c was there.
func skip(b []byte, c byte) ([]byte, bool) {
	b = blank(b)
	if len(b) == 0 || b[0] != c {
		return b, false
	}
	return b[1:], true
}

// blank removes blanks from the front of b.
func blank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r' || b[0] == '\n') {
		b = b[1:]
	}
	return b
}

// quotedText parses the JSON string at the front of b and returns its text and the rest of
// b. ok is false if there is no valid string.
func quotedText(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	plain := true
	for i := 1; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			if plain {
				return b[1:i], b[i+1:], true
			}
			if !unicodeJSON(b[:i+1]) {
				return nil, nil, false
			}
			var s string
			if json.Unmarshal(b[:i+1], &s) != nil {
				return nil, nil, false
			}
			return []byte(s), b[i+1:], true
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return nil, nil, false
		}
	}
	return nil, nil, false
}

// unicodeJSON reports whether b, which is JSON, is valid UTF-8 and has no escape of an
// unpaired UTF-16 surrogate. encoding/json replaces all of these by the same character, so
// that two different names could become the same.
func unicodeJSON(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 == len(b) {
			return true
		}
		if b = b[i:]; b[1] != 'u' {
			b = b[2:]
			continue
		}
		first := escapedUnit(b)
		b = b[min(6, len(b)):]
		if !utf16.IsSurrogate(first) {
			continue
		}
		if utf16.DecodeRune(first, escapedUnit(b)) == unicode.ReplacementChar {
			return false
		}
		b = b[6:]
	}
	return true
}

// escapedUnit returns the UTF-16 unit of the escape \uXXXX at the front of b, or -1 where
// there is none.
func escapedUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}

// jsonValue parses the JSON value at the front of b and returns it and the rest of b: the
// text of a string, a number or a boolean as it is written, nil for null, and the bytes of a
// list or an object. ok is false if there is no valid value.
func jsonValue(b []byte) (value, rest []byte, ok bool) {
	if len(b) == 0 {
		return nil, nil, false
	}
	switch b[0] {
	case '"':
		return quotedText(b)
	case '{', '[':
		return nested(b)
	}
	n := 0
	for n < len(b) && !strings.ContainsRune(",}] \t\r\n", rune(b[n])) {
		n++
	}
	value, rest = b[:n], b[n:]
	switch {
	case string(value) == "null":
		return nil, rest, true
	case string(value) == "true", string(value) == "false":
		return value, rest, true
	}
	_, _, bad := fixed(value, 1)
	return value, rest, bad == flawless || bad == infinite || bad == tooLarge
}

// nested returns the bytes of the JSON list or object at the front of b, and the rest of b.
// ok is false if it is not valid.
func nested(b []byte) (value, rest []byte, ok bool) {
	depth, quoted := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return b[:i+1], b[i+1:], json.Valid(b[:i+1])
			}
		}
	}
	return nil, nil, false
}
