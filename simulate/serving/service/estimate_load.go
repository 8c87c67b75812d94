package service

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/simulate/serving/queueing"
)

// loadColumn is a column of a file of rates.
type loadColumn uint8

const (
	ignoredColumn loadColumn = iota
	rateColumn               // requests a second
	countColumn              // requests in the step
	inColumn
	outColumn
	readyColumn
)

// loadColumns are the columns by the names that they may have.
var loadColumns = map[string]loadColumn{
	"rate": rateColumn, "rps": rateColumn, "requests_per_second": rateColumn,
	"requests": countColumn, "count": countColumn, "load": countColumn,
	"tokens_in": inColumn, "tokens_out": outColumn, "ready": readyColumn, "replicas": readyColumn,
	"step": ignoredColumn, "time": ignoredColumn, "t": ignoredColumn, "ds": ignoredColumn, "timestamp": ignoredColumn,
}

const loadColumnsText = "rate (a second) or requests (in the step), and where they change tokens_in, tokens_out and ready; also step or time"

// readLoad reads the file of rates, one row for each step.
func (e *estimator) readLoad() ([]queueing.Step, error) {
	in, done, err := e.open(e.Load)
	if err != nil {
		return nil, err
	}
	defer done.Close() //nolint:errcheck // it was only read
	plain, err := trace.Unpack(in)
	if err != nil {
		return nil, err
	}
	steps, err := readLoadSteps(plain, float64(e.step()))
	if err != nil {
		return nil, err
	}
	return steps, e.setLengths(steps)
}

// setLengths gives the steps the lengths of requests that were asked for, and the estimate their means where
// only the file knows them.
func (e *estimator) setLengths(steps []queueing.Step) error {
	total := capcli.Sum(steps, func(s queueing.Step) float64 { return s.Rate })
	if total == 0 {
		return &capcli.InputError{Field: "rate", Text: "no requests come in any step"}
	}
	for _, x := range []struct {
		name  string
		asked float64
		mean  *float64
		of    func(*queueing.Step) *float64
	}{
		{"tokens_in", e.In, &e.lengths.In, func(s *queueing.Step) *float64 { return &s.In }},
		{"tokens_out", e.Out, &e.lengths.Out, func(s *queueing.Step) *float64 { return &s.Out }},
	} {
		sum := 0.0
		for i := range steps {
			at := x.of(&steps[i])
			if x.asked > 0 {
				*at = x.asked
			}
			if *at == 0 && steps[i].Rate > 0 {
				return &capcli.InputError{
					Field: x.name, Text: fmt.Sprintf("step %d has requests, and their mean %s is not known", i, x.name),
					Hint: "--tokens-in 512 --tokens-out 128, or columns tokens_in and tokens_out",
				}
			}
			sum += *at * steps[i].Rate
		}
		*x.mean = sum / total
	}
	return nil
}

// readLoadSteps reads rates from delimited text with a header. Ready is -1 where the text does not say it.
func readLoadSteps(src io.Reader, length float64) ([]queueing.Step, error) {
	lines := capcli.NewLineReader(src)
	var f capcli.Fields
	var columns []loadColumn
	var steps []queueing.Step
	for line, ok := lines.Next(); ok; line, ok = lines.Next() {
		if len(strings.TrimSpace(string(line))) == 0 {
			continue
		}
		if columns == nil {
			f.Separator = separatorOf(string(line))
		}
		if f.SplitRecord(lines, line) == capcli.QuoteOpen {
			return nil, &capcli.InputError{Line: lines.Line(), Text: "a quote is not closed"}
		}
		if columns == nil {
			var err error
			if columns, err = readLoadHeader(f.Row); err != nil {
				return nil, err
			}
			continue
		}
		s, err := readLoadRow(f.Row, columns, length, lines.Line())
		if err != nil {
			return nil, err
		}
		if steps = append(steps, s); len(steps) > maxEstimateSteps {
			return nil, &capcli.InputError{Line: lines.Line(), Text: fmt.Sprintf("over %d steps", maxEstimateSteps), Hint: "use longer steps"}
		}
	}
	switch err := lines.Err(); {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(steps) == 0:
		return nil, &capcli.InputError{Text: "no steps: want a header and a row for each step", Hint: "columns: " + loadColumnsText}
	}
	return steps, nil
}

// separatorOf returns what separates the names of a header.
func separatorOf(header string) byte {
	for _, c := range []byte{',', ';', '\t'} {
		if strings.IndexByte(header, c) >= 0 {
			return c
		}
	}
	return ','
}

func readLoadHeader(row [][]byte) ([]loadColumn, error) {
	columns := make([]loadColumn, len(row))
	rates := 0
	for i, cell := range row {
		name := strings.ToLower(strings.TrimSpace(string(cell)))
		kind, known := loadColumns[name]
		if !known {
			return nil, &capcli.InputError{Line: 1, Field: name, Text: "unknown column " + capcli.Quoted(name), Hint: "columns: " + loadColumnsText}
		}
		if kind != ignoredColumn && slices.Contains(columns[:i], kind) {
			return nil, &capcli.InputError{Line: 1, Field: name, Text: "a second column that says the same as another"}
		}
		if columns[i] = kind; kind == rateColumn || kind == countColumn {
			rates++
		}
	}
	if rates != 1 {
		return nil, &capcli.InputError{Line: 1, Field: "rate", Text: fmt.Sprintf("want one column with the rate or the requests of a step, found %d", rates), Hint: "columns: " + loadColumnsText}
	}
	return columns, nil
}

func readLoadRow(row [][]byte, columns []loadColumn, length float64, line int) (queueing.Step, error) {
	s := queueing.Step{Ready: -1}
	if len(row) != len(columns) {
		return s, &capcli.InputError{Line: line, Text: fmt.Sprintf("%d columns, want %d as in the header", len(row), len(columns))}
	}
	for i, cell := range row {
		text := strings.TrimSpace(string(cell))
		if columns[i] == ignoredColumn || text == "" && columns[i] != rateColumn && columns[i] != countColumn {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !(v >= 0 && v <= 1e12) || columns[i] == readyColumn && v != math.Trunc(v) {
			return s, &capcli.InputError{Line: line, Field: fieldOf(columns[i]), Text: "want a number, 0 or more, found " + capcli.Quoted(text)}
		}
		switch columns[i] {
		case ignoredColumn:
		case rateColumn:
			s.Rate = v
		case countColumn:
			s.Rate = v / length
		case inColumn:
			s.In = v
		case outColumn:
			s.Out = v
		case readyColumn:
			s.Ready = int64(v)
		}
	}
	if (s.In != 0 && s.In < 1) || (s.Out != 0 && s.Out < 1) {
		return s, &capcli.InputError{Line: line, Field: "tokens_in", Text: "and tokens_out: a request has at least 1 token each"}
	}
	return s, nil
}

// fieldOf names a column in messages.
func fieldOf(c loadColumn) string {
	return [...]string{"", "rate", "requests", "tokens_in", "tokens_out", "ready"}[c]
}

// WriteStepMeans writes the means of steps as CSV with a header. A time of a step that served nobody is
// empty.
func WriteStepMeans(w io.Writer, steps []queueing.StepMeans) error {
	out := bufio.NewWriter(w)
	line := []byte("step,rate,ready,load,served,backlog,mean_running,mean_e2e_s,mean_ttft_s,mean_tpot_s,mean_wait_s,holds\n")
	for i := range steps {
		if _, err := out.Write(line); err != nil {
			return err
		}
		s := &steps[i]
		line = append(strconv.AppendInt(line[:0], int64(s.Step), 10), ',')
		line = append(strconv.AppendFloat(line, s.Rate, 'g', -1, 64), ',')
		line = strconv.AppendInt(line, s.Ready, 10)
		for k, v := range [...]float64{s.Load, s.Served, s.Backlog, s.Running, s.E2E, s.TTFT, s.TPOT, s.Wait} {
			line = append(line, ',')
			if k < 4 || s.Served > 0 {
				line = strconv.AppendFloat(line, v, 'g', -1, 64)
			}
		}
		line = append(strconv.AppendBool(append(line, ','), s.Holds), '\n')
	}
	if _, err := out.Write(line); err != nil {
		return err
	}
	return out.Flush()
}
