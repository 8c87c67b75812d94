package readings

import (
	"bytes"
	"strconv"
)

// mostFields is the most fields of a line that are read.
const mostFields = 512

// Line calls each with the fields of a line: of a JSON object those that are numbers or texts, of other text each
// name=value (logfmt), or each "name: value" where "|" separates them. Values are without quotes; escapes in them
// stay as they are. It reports whether the line had any. The bytes are valid until each returns.
func Line(line []byte, each func(name, value []byte)) bool {
	line = bytes.TrimSpace(line)
	switch {
	case len(line) == 0:
		return false
	case line[0] == '{':
		return eachJSON(line, each)
	case bytes.Contains(line, []byte(" | ")):
		return eachColon(line, each)
	}
	return eachPair(line, each)
}

// eachJSON reads the fields of a JSON object; those of objects and lists in it are left out. It reports false for
// what is no object, of which fields may have been seen.
func eachJSON(b []byte, each func(name, value []byte)) bool {
	s := scanner{b: b, i: 1}
	for n := 0; n < mostFields; n++ {
		s.space()
		if s.take('}') {
			s.space()
			return s.i == len(s.b) && n > 0
		}
		if n > 0 && !s.take(',') {
			return false
		}
		s.space()
		name, ok := s.text()
		if s.space(); !ok || !s.take(':') {
			return false
		}
		s.space()
		value, plain, ok := s.value()
		if !ok {
			return false
		}
		if plain {
			each(name, value)
		}
	}
	return false
}

// scanner goes through JSON.
type scanner struct {
	b []byte
	i int
}

func (s *scanner) space() {
	for s.i < len(s.b) && (s.b[s.i] == ' ' || s.b[s.i] == '\t' || s.b[s.i] == '\n' || s.b[s.i] == '\r') {
		s.i++
	}
}

func (s *scanner) take(c byte) bool {
	if s.i < len(s.b) && s.b[s.i] == c {
		s.i++
		return true
	}
	return false
}

// text reads a quoted text.
func (s *scanner) text() ([]byte, bool) {
	if !s.take('"') {
		return nil, false
	}
	for from := s.i; s.i < len(s.b); s.i++ {
		switch s.b[s.i] {
		case '\\':
			s.i++
		case '"':
			s.i++
			return s.b[from : s.i-1], true
		}
	}
	return nil, false
}

// value reads a value; plain is false for an object, a list, true, false and null.
func (s *scanner) value() (value []byte, plain, ok bool) {
	if s.i >= len(s.b) {
		return nil, false, false
	}
	switch s.b[s.i] {
	case '"':
		value, ok = s.text()
		return value, ok, ok
	case '{', '[':
		return nil, false, s.skip()
	}
	from := s.i
	for s.i < len(s.b) && !bytes.ContainsRune([]byte(",}] \t\n\r"), rune(s.b[s.i])) {
		s.i++
	}
	value = s.b[from:s.i]
	switch string(value) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity": // Python writes the last three
		return nil, false, true
	}
	_, err := strconv.ParseFloat(string(value), 64)
	return value, err == nil, err == nil
}

// skip passes an object or a list.
func (s *scanner) skip() bool {
	depth := 0
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case '{', '[':
			depth++
			s.i++
		case '}', ']':
			depth--
			s.i++
			if depth == 0 {
				return true
			}
		case '"':
			if _, ok := s.text(); !ok {
				return false
			}
		default:
			s.i++
		}
	}
	return false
}

// eachPair reads name=value pairs, with values in quotes or without.
func eachPair(b []byte, each func(name, value []byte)) bool {
	found := 0
	for len(b) > 0 && found < mostFields {
		eq := bytes.IndexByte(b, '=')
		if eq < 0 {
			break
		}
		name := b[:eq]
		if i := bytes.LastIndexAny(name, " \t,;"); i >= 0 {
			name = name[i+1:]
		}
		b = b[eq+1:]
		var value []byte
		if len(b) > 0 && b[0] == '"' {
			s := scanner{b: b}
			text, ok := s.text()
			if !ok {
				break
			}
			value, b = text, b[s.i:]
		} else {
			end := bytes.IndexAny(b, " \t,;")
			if end < 0 {
				end = len(b)
			}
			value, b = b[:end], b[end:]
		}
		if len(name) > 0 && len(value) > 0 {
			each(name, value)
			found++
		}
	}
	return found > 0
}

// eachColon reads "name: value" fields that "|" separates.
func eachColon(b []byte, each func(name, value []byte)) bool {
	found := 0
	for len(b) > 0 && found < mostFields {
		field := b
		if i := bytes.IndexByte(b, '|'); i >= 0 {
			field, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		i := bytes.LastIndexByte(field, ':')
		if i < 0 {
			continue
		}
		name, value := bytes.TrimSpace(field[:i]), bytes.TrimSpace(field[i+1:])
		if len(name) > 0 && len(value) > 0 && bytes.IndexByte(value, ' ') < 0 {
			each(name, value)
			found++
		}
	}
	return found > 0
}
