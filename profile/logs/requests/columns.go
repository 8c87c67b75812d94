package requests

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"capcli/profile/logs/trace"

	"capcli"
)

// Columns are the names of our own columns, in the order in which they are written. arrival_us is in
// microseconds, from 0 or since 1970. The formats csv, jsonl and parquet also read the names that others
// give them.
var Columns = []string{"arrival_us", "tokens_in", "tokens_out", "cached", "prefix", "user", "model"}

// Indexes in Columns.
const (
	colArrival = iota
	colIn
	colOut
	colCached
	colPrefix
	colUser
	colModel
	numColumns
)

// alias is a name that a column has elsewhere. unit is how many of a number make a second; 0 is not known.
type alias struct {
	name string
	unit int64
}

// aliases are the names of each column, ours first. A dot divides the keys of nested objects. They are
// those of capcli, of vLLM and OpenAI usage records, of published traces (Azure, Vidur, Mooncake) and of
// gateways.
var aliases = [numColumns][]alias{
	colArrival: {
		{"arrival_us", 1e6},
		{"arrival_ms", 1e3},
		{"arrival_s", 1},
		{"arrival_ns", 1e9},
		{"timestamp_us", 1e6},
		{"timestamp_ms", 1e3},
		{"timestamp_s", 1},
		{"timestamp_ns", 1e9},
		{"arrived_at", 1},
		{"arrival", 0},
		{"arrival_time", 0},
		{"timestamp", 0},
		{"request_time", 0},
		{"start_time", 0},
		{"startTime", 0},
		{"time", 0},
		{"ts", 0},
		{"created", 0},
		{"created_at", 0},
		{"datetime", 0},
		{"date", 0},
	},
	colIn: {
		{"tokens_in", 0},
		{"input_tokens", 0},
		{"prompt_tokens", 0},
		{"ContextTokens", 0},
		{"context_tokens", 0},
		{"input_length", 0},
		{"input_len", 0},
		{"prompt_len", 0},
		{"prompt_length", 0},
		{"num_prefill_tokens", 0},
		{"Request tokens", 0},
		{"request_tokens", 0},
		{"isl", 0},
		{"usage.prompt_tokens", 0},
		{"usage.input_tokens", 0},
	},
	colOut: {
		{"tokens_out", 0},
		{"output_tokens", 0},
		{"completion_tokens", 0},
		{"GeneratedTokens", 0},
		{"generated_tokens", 0},
		{"output_length", 0},
		{"output_len", 0},
		{"num_decode_tokens", 0},
		{"Response tokens", 0},
		{"response_tokens", 0},
		{"osl", 0},
		{"usage.completion_tokens", 0},
		{"usage.output_tokens", 0},
	},
	colCached: {
		{"cached", 0}, {"cached_tokens", 0}, {"tokens_cached", 0}, {"usage.prompt_tokens_details.cached_tokens", 0}, {"usage.input_tokens_details.cached_tokens", 0},
	},
	colPrefix: {{"prefix", 0}, {"prefix_id", 0}},
	colUser:   {{"user", 0}, {"user_id", 0}, {"Session ID", 0}, {"session_id", 0}, {"session", 0}, {"client", 0}, {"customer", 0}, {"tenant", 0}, {"end_user", 0}},
	colModel:  {{"model", 0}, {"model_name", 0}, {"model_id", 0}},
}

// Record holds the values of a row as text, in the order of Columns; nil is none.
type Record [numColumns][]byte

// Places are where each of Columns is in a header, -1 where it is not.
type Places [numColumns]int

// FindColumns returns the places of the columns in a header, and sets the unit of times by its names. Names
// of others match whatever their case, blanks and underscores. It fails where times or tokens are missing,
// and for a wrong name in Options.Map.
func (r *Reader) FindColumns(line int, header []string) (p Places, err error) {
	unit := int64(0)
	if err := r.checkMap(line, header); err != nil {
		return p, err
	}
	for i := range p {
		p[i] = -1
		if theirs, ok := r.o.Map[Columns[i]]; ok {
			p[i] = slices.Index(header, theirs)
			continue
		}
		for _, a := range aliases[i] {
			if at := slices.IndexFunc(header, func(have string) bool { return plainName(have) == plainName(a.name) }); at >= 0 {
				if p[i] = at; i == colArrival {
					unit = a.unit
				}
				break
			}
		}
	}
	if p[colArrival] < 0 && !r.lengths || p[colIn] < 0 || p[colOut] < 0 {
		return p, r.lacking(line, header)
	}
	if r.o.Unit > 0 {
		unit = r.o.Unit
	}
	r.SetUnit(unit)
	var unknown []string
	for i, name := range header {
		if !slices.Contains(p[:], i) && name != "" {
			unknown = append(unknown, name)
		}
	}
	if unknown != nil && r.rep.Rows == 0 {
		r.Note("columns not read: " + strings.Join(capcli.Abridge(unknown, 12), ", "))
	}
	return p, nil
}

// checkMap returns an error for a name in Options.Map that is no column of ours, or not in the header.
func (r *Reader) checkMap(line int, header []string) error {
	for _, name := range slices.Sorted(maps.Keys(r.o.Map)) {
		if err := capcli.CheckChoice("column for --map", name, Columns); err != nil {
			return err
		}
		if theirs := r.o.Map[name]; !slices.Contains(header, theirs) {
			return r.fault(line, "", fmt.Sprintf("the header has no column %q, to which %s is mapped; it has %s", theirs, name, headerText(header)), "correct --map")
		}
	}
	return nil
}

// lacking returns the error for a header without times or tokens.
func (r *Reader) lacking(line int, header []string) error {
	var gone []string
	has := func(i int) bool {
		_, told := r.o.Map[Columns[i]]
		return told || slices.ContainsFunc(header, func(have string) bool {
			return slices.ContainsFunc(aliases[i], func(a alias) bool { return plainName(a.name) == plainName(have) })
		})
	}
	for _, i := range []int{colArrival, colIn, colOut} {
		if !has(i) {
			gone = append(gone, Columns[i])
		}
	}
	field := strings.Join(gone, ", ")
	hint := "name its columns: --map tokens_in=THEIRS,tokens_out=THEIRS"
	switch {
	case !has(colIn) && !has(colOut):
		hint += "; a trace without tokens cannot be played: give its rates and lengths instead, requests: {rate: 2/s, tokens_in: …, tokens_out: …}"
	case len(gone) == 0:
		return r.fault(line, "", "the format is not recognised: the file begins with "+headerText(header), "name it: "+formatNames())
	case !has(colArrival):
		hint = "name its columns: --map arrival_us=THEIRS; lengths without times go with a rate: requests: {rate: 2/s, tokens_in: {from: FILE}, tokens_out: {from: FILE}}"
	}
	return r.fault(line, field, "a trace of requests needs the time, the tokens in and the tokens out of each; this has "+headerText(header), hint)
}

// plainName returns a name in lower case without blanks, underscores and hyphens.
func plainName(s string) string {
	return strings.Map(func(c rune) rune {
		if c == ' ' || c == '_' || c == '-' {
			return -1
		}
		return c
	}, strings.ToLower(s))
}

// headerText returns a header, shortened, for a message.
func headerText(header []string) string {
	text := strings.Join(capcli.Abridge(header, 20), ", ")
	if len(text) > 400 {
		text = text[:400] + "…"
	}
	return text
}

// SetUnit says how many of times that are numbers make a second; 0 tells it from their size.
func (r *Reader) SetUnit(perSecond int64) { r.clock.unit = perSecond }

// AddRecord passes the request of a row on, or counts why it is none.
func (r *Reader) AddRecord(line int, c *Record) error {
	at, dated, wrong := r.clock.read(c[colArrival])
	if r.lengths {
		at, dated, wrong = 0, false, ""
	}
	if wrong != "" {
		if wrong == noUnit {
			return r.fault(line, Columns[colArrival], "wants a time, found "+capcli.Quoted(string(c[colArrival]))+": "+wrong, unitHint)
		}
		return r.RejectRow(line, Columns[colArrival], "wants a time, found "+capcli.Quoted(string(c[colArrival])), "")
	}
	row := Row{Arrival: at}
	for _, f := range []struct {
		to  *int64
		col int
	}{{&row.In, colIn}, {&row.Out, colOut}, {&row.Cached, colCached}} {
		n, wrong := tokens(c[f.col])
		if wrong != "" {
			return r.RejectRow(line, Columns[f.col], "wants a number of tokens, found "+capcli.Quoted(string(c[f.col]))+wrong, "")
		}
		*f.to = n
	}
	var ok [3]bool
	row.User, ok[0] = r.users.number(trimmed(c[colUser]))
	row.Model, ok[1] = r.models.number(trimmed(c[colModel]))
	var prefix int32
	if p := trimmed(c[colPrefix]); len(p) > 0 && string(p) != "0" {
		prefix, ok[2] = r.prefixes.number(p)
	} else {
		ok[2] = true
	}
	row.Prefix = int64(prefix)
	if slices.Contains(ok[:], false) {
		return r.fault(line, "", fmt.Sprintf("there are over %s different users, models or prefixes", capcli.Grouped(maxNames)), "leave the column out: map another to it")
	}
	return r.pass(line, &row, dated)
}

// pass keeps a request, or counts it as one without prompt or answer.
func (r *Reader) pass(line int, row *Row, dated bool) error {
	switch {
	case row.Out == 0:
		r.rep.Rows++
		r.rep.Failed++
		return nil
	case row.In == 0:
		r.rep.Rows++
		r.rep.Empty++
		return nil
	}
	return r.Keep(line, row, dated)
}

// tokens parses a number of tokens; no value is 0. Whole numbers may have a fraction of zeros, as tables
// with gaps are written. wrong says what is wrong.
func tokens(b []byte) (n int64, wrong string) {
	b = trimmed(b)
	if len(b) == 0 {
		return 0, ""
	}
	if whole, frac, ok := bytes.Cut(b, []byte{'.'}); ok && len(bytes.Trim(frac, "0")) == 0 {
		b = whole
	}
	digits, ok := trace.Digits(b)
	switch n = int64(digits); {
	case !ok || len(b) > 18:
		return 0, ": want a whole number from 0"
	case n > maxTokens:
		return 0, fmt.Sprintf(": over %d", int64(maxTokens))
	}
	return n, ""
}

// trimmed returns b without blanks around it; words for no value are none.
func trimmed(b []byte) []byte {
	b = bytes.TrimSpace(b)
	if len(b) > 4 || len(b) == 0 || b[0]-'0' <= 9 {
		return b
	}
	switch strings.ToLower(string(b)) {
	case "null", "nan", "none", "na":
		return nil
	}
	return b
}
