package series

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"capcli"
)

// Limits on an answer of a Prometheus server.
const (
	maxAnswer = 1 << 30 // bytes
	maxToken  = 1 << 20 // bytes of one JSON token and of the blanks before it
	rowBytes  = 24      // bytes of a Row
	perSeries = 1 << 10 // bytes of memory for a series, besides its points and the text of its labels
)

// errLongToken is the error of a JSON token over maxToken.
var errLongToken = errors.New("a text in it is longer than 1 MiB")

// answer reads an answer of query_range token by token
// (https://prometheus.io/docs/prometheus/latest/querying/api/#range-queries). It holds one
// series at a time.
type answer struct {
	t    *Table // gives the file name for errors, and the limit on rows
	d    *json.Decoder
	all  *io.LimitedReader // limits the bytes of the answer
	one  *allowance        // limits the bytes of a token
	each func(labels map[string]string, points []Point) error
	held int // memory counted so far, in rows

	status, kind, why string // fields status, resultType and error of the answer
	refused           string // field errorType of the answer
	warnings          []string
	points            []Point // points of the current series
}

// newAnswer returns a reader of the answer in r, which calls each with every series. The points
// are valid until each returns.
func newAnswer(r io.Reader, t *Table, each func(labels map[string]string, points []Point) error) *answer {
	a := &answer{t: t, each: each, all: &io.LimitedReader{R: r, N: maxAnswer + 1}}
	a.one = &allowance{r: a.all}
	a.d = json.NewDecoder(a.one)
	return a
}

// allowance is a reader that returns at most left bytes. answer sets left before each token.
type allowance struct {
	r    io.Reader
	left int
}

// Read implements io.Reader.
func (l *allowance) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, errLongToken
	}
	n, err := l.r.Read(p[:min(len(p), l.left)])
	l.left -= n
	return n, err
}

// read reads the whole answer. It fails where Prometheus refused the query, and where the answer
// is not a matrix.
func (a *answer) read() error {
	if err := a.object(a.top); err != nil {
		return err
	}
	switch {
	case a.status != "success":
		return a.t.fault(0, a.refused, "Prometheus refused the query: "+a.why, "try it in the Prometheus expression browser")
	case a.kind != "matrix":
		return a.noMatrix(quote(a.kind))
	}
	return nil
}

func (a *answer) noMatrix(found string) error {
	return a.t.fault(0, "resultType", "expected a matrix, found "+found, "use query_range with start, end and step")
}

// top reads the value of a top-level key of the answer.
func (a *answer) top(key string) error {
	switch key {
	case "status":
		return a.text(&a.status)
	case "errorType":
		return a.text(&a.refused)
	case "error":
		return a.text(&a.why)
	case "warnings":
		return a.list(func(first json.Token) error {
			if text, ok := first.(string); ok && len(a.warnings) < 100 {
				a.warnings = append(a.warnings, text)
				return nil
			}
			return a.skip(first)
		})
	case "data":
		return a.object(a.data)
	}
	return a.pass()
}

// data reads the value of a key of the object data.
func (a *answer) data(key string) error {
	switch key {
	case "resultType":
		if err := a.text(&a.kind); err != nil || a.kind == "matrix" {
			return err
		}
		return a.noMatrix(quote(a.kind))
	case "result":
		return a.list(a.series)
	}
	return a.pass()
}

// series reads one series; first is its first token.
func (a *answer) series(first json.Token) error {
	if first != json.Delim('{') {
		return a.noMatrix(fmt.Sprintf("%v", first))
	}
	labels := map[string]string{}
	a.points = a.points[:0]
	err := a.members(func(key string) error {
		switch key {
		case "metric":
			return a.object(func(label string) error {
				var value string
				err := a.text(&value)
				labels[label] = value
				return errors.Join(err, a.hold((len(label)+len(value))/rowBytes))
			})
		case "values":
			return a.list(func(first json.Token) error { return a.point(first, labels) })
		}
		return a.pass()
	})
	if err != nil {
		return err
	}
	if err := a.hold(perSeries / rowBytes); err != nil {
		return err
	}
	return a.each(labels, a.points)
}

// point reads a point, [unix seconds, "value"]; first is its first token.
func (a *answer) point(first json.Token, labels map[string]string) error {
	if first != json.Delim('[') {
		return a.brokenError(fmt.Errorf("expected a time and a value, found %v", first))
	}
	var pair [2]json.Token
	for i := range pair {
		var err error
		if pair[i], err = a.token(); err != nil {
			return err
		}
	}
	end, err := a.token()
	if err != nil {
		return err
	}
	at, isTime := pair[0].(float64)
	text, isText := pair[1].(string)
	if !isTime || !isText || end != json.Delim(']') {
		return a.brokenError(fmt.Errorf("expected a time and a value as text, found %v and %v", pair[0], pair[1]))
	}
	v, err := parseFloat(text)
	switch {
	case err != nil && !math.IsInf(v, 0):
		return a.t.fault(0, metricName(labels), "expected a number as text, found "+quote(text), "")
	case math.Abs(at) > 1e12:
		return a.t.fault(0, metricName(labels), "a sample's time is out of range", "")
	}
	a.points = append(a.points, Point{at, v})
	return a.hold(1)
}

// hold counts memory that is about to be used, in rows. It fails with ErrTooMuch above the limit.
func (a *answer) hold(rows int) error {
	if a.held += rows; a.held <= a.t.limit {
		return nil
	}
	e := a.t.fault(0, "", "the answer has more values than the limit of "+capcli.Grouped(int64(a.t.limit)), "ask for fewer series, a shorter time or a longer step")
	e.Err = ErrTooMuch
	return e
}

// object reads an object and calls each with every key; each must read the value. A null is an
// empty object.
func (a *answer) object(each func(key string) error) error {
	first, err := a.token()
	switch {
	case err != nil || first == nil:
		return err
	case first != json.Delim('{'):
		return a.brokenError(fmt.Errorf("expected an object, found %.60v", first))
	}
	return a.members(each)
}

// members reads the rest of an object after its opening brace, as object does.
func (a *answer) members(each func(key string) error) error {
	for {
		t, err := a.token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return nil // the closing brace
		}
		if err := each(key); err != nil {
			return err
		}
	}
}

// list reads a list and calls each with the first token of every element; each must read the rest
// of the element. A null is an empty list.
func (a *answer) list(each func(first json.Token) error) error {
	first, err := a.token()
	switch {
	case err != nil || first == nil:
		return err
	case first != json.Delim('['):
		return a.noMatrix(fmt.Sprintf("%.60v", first))
	}
	for {
		t, err := a.token()
		if err != nil || t == json.Delim(']') {
			return err
		}
		if err := each(t); err != nil {
			return err
		}
	}
}

// text reads a string into to. A null leaves to unchanged.
func (a *answer) text(to *string) error {
	t, err := a.token()
	if err != nil || t == nil {
		return err
	}
	text, ok := t.(string)
	if !ok {
		return a.brokenError(fmt.Errorf("expected a text, found %.60v", t))
	}
	*to = text
	return nil
}

// pass skips the next value.
func (a *answer) pass() error {
	t, err := a.token()
	if err != nil {
		return err
	}
	return a.skip(t)
}

// skip skips the rest of the value whose first token is first.
func (a *answer) skip(first json.Token) error {
	depth := 0
	for t := first; ; {
		if d, ok := t.(json.Delim); ok {
			if depth--; d == '{' || d == '[' {
				depth += 2
			}
		}
		if depth == 0 {
			return nil
		}
		var err error
		if t, err = a.token(); err != nil {
			return err
		}
	}
}

func (a *answer) token() (json.Token, error) {
	a.one.left = maxToken
	t, err := a.d.Token()
	if err != nil {
		return nil, a.brokenError(err)
	}
	return t, nil
}

// brokenError returns the error for an answer that is malformed or incomplete.
func (a *answer) brokenError(err error) error {
	if a.all.N <= 0 {
		return a.t.fault(0, "", "the answer is over 1 GiB", "ask for fewer series or a longer step")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	e := a.t.fault(0, "", "expected an answer of Prometheus query_range: "+err.Error(), "check the address: it ends before /api/v1")
	e.Err = err
	return e
}
