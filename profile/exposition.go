package profile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"capcli"
)

// Limits on an exposition.
const (
	maxExpositionLine  = 1 << 20 // bytes of a line
	maxExpositionLines = 1_000_000
	maxLabels          = 256
)

// point is one line of an exposition. It is valid until the next line is read.
type point struct {
	name   string
	labels []label
	value  string
	line   int
}

type label struct{ name, value string }

// get returns the value of the label with the first of names that the point has, or "".
func (p *point) get(names ...string) string {
	for _, n := range names {
		for _, l := range p.labels {
			if l.name == n {
				return l.value
			}
		}
	}
	return ""
}

// readExposition reads metrics in the text format of Prometheus (exposition format 0.0.4) or
// OpenMetrics 1.0 and calls each with every point. It fails for a line that is not valid, and
// with the error of each. name is the file name in errors.
func readExposition(name string, r io.Reader, each func(p *point) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 64<<10), maxExpositionLine)
	var p point
	for in.Scan() {
		p.line++
		if p.line > maxExpositionLines {
			return &capcli.InputError{File: name, Line: p.line, Text: fmt.Sprintf("more than %d lines", maxExpositionLines)}
		}
		text := strings.TrimSpace(in.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if err := p.parse(text); err != nil {
			return &capcli.InputError{File: name, Line: p.line, Text: err.Error(), Hint: "expected metrics as a dcgm-exporter gives them at /metrics"}
		}
		if err := each(&p); err != nil {
			return err
		}
	}
	err := in.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return &capcli.InputError{File: name, Line: p.line + 1, Text: fmt.Sprintf("line is longer than %d bytes", maxExpositionLine)}
	}
	return err
}

// parse parses a line name{label="value",…} value [time]; it ignores the time.
func (p *point) parse(text string) error {
	p.labels = p.labels[:0]
	end := strings.IndexAny(text, "{ \t")
	if end <= 0 {
		return fmt.Errorf("expected a metric and its value, found %.60q", text)
	}
	p.name = text[:end]
	rest := text[end:]
	if rest[0] == '{' {
		var err error
		if rest, err = p.parseLabels(rest[1:]); err != nil {
			return err
		}
	}
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return fmt.Errorf("expected a value after %.60s, found none", p.name)
	}
	p.value = fields[0]
	return nil
}

// parseLabels parses the labels after the opening brace and returns the text after the closing
// brace.
func (p *point) parseLabels(rest string) (string, error) {
	for {
		rest = strings.TrimLeft(rest, ", \t")
		if rest == "" {
			return "", fmt.Errorf("the labels of %.60s do not end", p.name)
		}
		if rest[0] == '}' {
			return rest[1:], nil
		}
		key, after, ok := strings.Cut(rest, "=")
		after = strings.TrimLeft(after, " \t")
		if !ok || after == "" || after[0] != '"' {
			return "", fmt.Errorf("expected a label with a quoted value in %.60s, found %.60q", p.name, rest)
		}
		value, n := unquote(after)
		if n == 0 {
			return "", fmt.Errorf("the label %.60s of %.60s does not end", key, p.name)
		}
		if len(p.labels) == maxLabels {
			return "", fmt.Errorf("%.60s has more than %d labels", p.name, maxLabels)
		}
		p.labels = append(p.labels, label{strings.TrimSpace(key), value})
		rest = after[n:]
	}
}

// unquote returns the content of the quoted text at the start of s, and its length in bytes with
// the quotes, or 0 where the text does not end. A backslash escapes a quote, a backslash, or n for
// a new line; before another character it is a backslash.
func unquote(s string) (string, int) {
	if end := strings.IndexAny(s[1:], `"\\`); end >= 0 && s[1+end] == '"' {
		return s[1 : 1+end], end + 2
	}
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return out.String(), i + 1
		case c == '\\' && i+1 < len(s) && s[i+1] == 'n':
			out.WriteByte('\n')
			i++
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			out.WriteByte(s[i+1])
			i++
		default:
			out.WriteByte(c)
		}
	}
	return "", 0
}

// ReadExposition reads metrics in the text format of Prometheus or of OpenMetrics 1.0. It calls each with the
// name and the value of every line, and with the value of the first of some labels that the line has. name is the
// file name in errors.
func ReadExposition(name string, r io.Reader, each func(metric, value string, label func(names ...string) string) error) error {
	return readExposition(name, r, func(p *point) error { return each(p.name, p.value, p.get) })
}
