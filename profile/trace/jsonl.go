package trace

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func init() {
	Formats.Add("jsonl", "capcli's own columns, one JSON object a line; --map reads other keys",
		Format{Sniff: sniffJSONL, Read: readJSONL, Mapped: true})
}

func sniffJSONL(head []byte) bool {
	line, _, _ := bytes.Cut(beginsJSON(head), []byte{'\n'})
	return bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"submit"`)) && bytes.Contains(line, []byte(`"gpus"`))
}

// jsonl reads flat objects. Values of our columns are strings or numbers; what
// else an object holds is passed over and named in a note.
type jsonl struct {
	r       *Reader
	cols    map[string]int
	cells   [numColumns][]byte
	unknown map[string]bool
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
	defer j.note()
	for row := int64(0); ; {
		line, n, ok := r.Line()
		if !ok {
			return nil
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
		if more, err := d.keep(n, row, line, &j.cells); err != nil || !more {
			return err
		}
	}
}

// note names the keys that were passed over.
func (j *jsonl) note() {
	if len(j.unknown) == 0 {
		return
	}
	var names []string
	for n := range j.unknown {
		names = append(names, n)
	}
	slices.Sort(names)
	j.r.Note("keys not read: " + strings.Join(names, ", "))
}

// object reads line into the cells. A null is an empty cell.
func (j *jsonl) object(line []byte) bool {
	clear(j.cells[:])
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

func (j *jsonl) put(key, value []byte) {
	if col, ok := j.cols[string(key)]; ok {
		j.cells[col] = value
		return
	}
	if len(j.unknown) < 100 && !j.unknown[string(key)] {
		j.unknown[string(key)] = true
	}
}

// skip takes blanks and then c off the front of b.
func skip(b []byte, c byte) ([]byte, bool) {
	b = blank(b)
	if len(b) == 0 || b[0] != c {
		return b, false
	}
	return b[1:], true
}

func blank(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// quotedText takes a JSON string off the front of b.
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

// unicodeJSON tells whether b, which is JSON, has no bytes that are not UTF-8 and
// no escape of half a UTF-16 pair. encoding/json makes the same character of all
// of these, and so one name of two.
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

// escapedUnit is the UTF-16 unit that b begins with as \uXXXX, or -1.
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

// jsonValue takes any value off the front of b: the text of a string, a
// number or a word as it stands, nil for null, and for a list or an object its
// bytes.
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
	for n < len(b) && !strings.ContainsRune(",}] \t\r", rune(b[n])) {
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

// nested takes a list or an object off the front of b.
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
