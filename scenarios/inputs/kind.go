package inputs

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/parquet"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/series"
	"capcli/profile/logs/trace"
)

// kindOf finds out what an input is. What no kind claims is a job log, whose reader says what it expected.
func (r *reading) kindOf(name string) (Kind, error) {
	s := &r.Sources
	switch {
	case s.IsFolder != nil && s.IsFolder(name):
		return Recording, nil
	case len(r.Names) == 1 && (name == "-" || r.isTold()):
		return Log, nil
	case name == "-":
		return "", &capcli.RequestError{Text: "stdin is read as the only input", Hint: "write it to a file first"}
	}
	in, closer, err := s.Open(name)
	if err != nil {
		return "", err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	if in.At == nil {
		return Log, nil // a stream is read once
	}
	return kindOfFile(name, in)
}

// isTold reports whether the request says how the columns of a log are called, or its format.
func (r *reading) isTold() bool {
	return r.Read.Format != "" && r.Read.Format != "auto" || len(r.Read.Map) > 0 || r.Read.Columns != ""
}

func isYAML(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml")
}

// kindOfFile finds out what a file is by its first bytes.
func kindOfFile(name string, in trace.Input) (Kind, error) {
	head := trace.Peek(&in)
	plain := trace.PlainHead(name, head)
	switch {
	case parquet.IsParquet(plain):
		return kindOfParquet(in, bytes.Equal(plain[:min(4, len(plain))], head[:min(4, len(head))]))
	case isLog(plain):
		return Log, nil
	case isYAML(name) && bytes.Contains(plain, []byte("capcli: events/")):
		return "", &capcli.RequestError{Field: "trace", Text: ": " + name + " has planned events", Hint: "--events " + capcli.ShellWord(name)}
	case isYAML(name):
		return Service, nil
	case isBill(plain):
		return Bill, nil
	case requests.Sniff(plain) != "":
		return Requests, nil
	case series.Sniff(plain, series.Options{Name: name, Usual: []string{"mean"}}):
		return Table, nil
	}
	return Log, nil
}

// isLog reports whether a format of job logs knows the head of a file.
func isLog(head []byte) bool {
	return slices.ContainsFunc(trace.Formats.All(), func(e capcli.Entry[trace.Format]) bool { return e.Value.Sniff != nil && e.Value.Sniff(head) })
}

// isBill reports whether the first line of a file has the columns that every bill in FOCUS has.
func isBill(head []byte) bool {
	line, _, _ := bytes.Cut(head, []byte{'\n'})
	return bytes.Contains(line, []byte("BilledCost")) && bytes.Contains(line, []byte("ChargeCategory"))
}

// kindOfParquet tells a table from jobs by its columns. plain says that the file is not packed as a whole.
func kindOfParquet(in trace.Input, plain bool) (Kind, error) {
	if !plain {
		return Log, nil
	}
	rows, err := parquet.NewRows(in.At, in.Size)
	if err != nil {
		return "", capcli.NameFile(err, in.Name)
	}
	names := capcli.Map(rows.Headers(), func(h parquet.Header) string { return h.Name })
	has := func(list ...string) bool {
		return !slices.ContainsFunc(list, func(n string) bool { return !slices.Contains(names, n) })
	}
	switch {
	case has("ds", "y"):
		return Table, nil
	case has("gpu", "host") || has("uuid"):
		return "", &capcli.InputError{File: in.Name, Text: fmt.Sprintf("expected jobs, found samples of GPUs (columns %s)", strings.Join(capcli.Abridge(names, 4), ", ")), Hint: "name the folder that capcli profile wrote"}
	}
	return Log, nil
}
