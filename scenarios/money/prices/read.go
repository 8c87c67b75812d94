package prices

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"capcli/scenarios/strict"

	"capcli"
)

const version = "prices/v1"

var form = strict.Form{Version: version, What: "a price file", Template: "capcli prices import --help"}

// Dearest is the highest accepted price of a GPU-hour.
const Dearest = 1000 * capcli.Dollar

// MaxBytes is the largest size of a price file.
const MaxBytes = 16 << 20

// Limits of a price file.
const (
	maxRows       = 100_000
	maxGPUs       = 4096 // of one machine
	maxKeyPart    = 100  // characters
	maxSourceText = 500
)

// column is a column of a price file, with its description.
type column struct{ Name, Doc string }

// columnTable lists the columns of a price file, in CSV and YAML.
var columnTable = []column{
	{"provider", "who rents the machine out: gcp"},
	{"region", "where: us-central1"},
	{"machine", "its type: a3-highgpu-8g"},
	{"gpu", "the model: H100"},
	{"gpus", "GPUs of one machine"},
	{"term", "on_demand, spot, per_use, block, or a length: 3mo, 1y, 3y"},
	{"payment", "of a length: none, partial or all is paid up front; empty where it is not said"},
	{"usd_per_hour", "US dollars for one machine for an hour, what is paid up front spread over the term"},
	{"usd_per_gpu_hour", "the same for one GPU; either will do, and both must agree"},
	{"free", "true where price 0 is meant"},
	{"currency", "USD"},
	{"date", "the price holds from then on, or was seen then: 2026-07-30"},
	{"source", "where the price comes from: a page, a contract"},
	{"covers", "of a term: true where it lowers the price of any matching use, wherever it runs; default: by the provider"},
	{"guarantees", "of a term: true where the capacity is there when it is wanted; default: by the provider"},
	{"fenced", "of a term: true where only jobs that are put there can use it; default: by the provider"},
}

// Parse reads a price file and checks all of it: CSV with a header, or YAML that starts with
// capcli: prices/v1. Both have the same columns; lines that start with # are comments. The error is
// *strict.Faults, with the place of each fault.
func Parse(file string, b []byte) (*List, error) {
	d := &strict.Decoder{Form: &form}
	p := &List{}
	switch {
	case len(b) > MaxBytes:
		d.FaultFile("the file has %d bytes; a price file has at most %d", len(b), MaxBytes)
	case isYAML(file, b):
		readYAML(d, p, b)
	case !utf8.Valid(b) || slices.Contains(b, 0):
		d.FaultFile("the file is not text in UTF-8; a price file is CSV, or YAML that begins with capcli: %s", version)
	default:
		d.Lines = strings.Split(strings.TrimPrefix(string(b), "\ufeff"), "\n")
		readCSV(d, p, b)
	}
	checkSame(d, p)
	if d.FaultCount() > 0 {
		return nil, d.Refusal(cmp.Or(file, "prices"), "columns of a price file: "+strings.Join(columnNames(), ", "))
	}
	for i := range p.rows {
		p.rows[i].File = file
	}
	p.sort()
	return p, nil
}

func columnNames() []string {
	return capcli.Map(columnTable, func(c column) string { return c.Name })
}

// isYAML reports whether a price file is YAML, by its name or else by its first line that is
// neither empty nor a comment.
func isYAML(file string, b []byte) bool {
	switch strings.ToLower(path.Ext(file)) {
	case ".yaml", ".yml":
		return true
	case ".csv":
		return false
	}
	for l := range strings.Lines(string(b[:min(len(b), 1<<16)])) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			return strings.HasPrefix(l, "capcli:") || l == "---"
		}
	}
	return false
}

// rowText is the text of one row, with the function that reports a fault in a column.
type rowText struct {
	cells map[string]string
	line  int
	fault func(column, format string, args ...any)
	bad   bool
}

func (t *rowText) wrong(column, format string, args ...any) {
	t.bad = true
	t.fault(column, format, args...)
}

// row checks and converts a row. It reports false after a fault.
func (t *rowText) row() (Row, bool) {
	r := Row{
		Provider: t.part("provider"), Region: t.part("region"), Machine: t.part("machine"), GPU: t.part("gpu"),
		Line: t.line,
	}
	t.gpus(&r)
	t.term(&r)
	t.readFree(&r)
	t.properties(&r)
	t.price(&r)
	t.date(&r)
	if c := t.cells["currency"]; c != "" && !strings.EqualFold(c, "USD") {
		t.wrong("currency", "currency is %s; all prices of a file are in USD, so that none is added to another kind of money", capcli.Quoted(c))
	}
	switch r.Source = t.cells["source"]; {
	case r.Source == "":
		t.wrong("source", "source is empty; say where the price comes from: a page, a contract")
	case utf8.RuneCountInString(r.Source) > maxSourceText || strings.IndexFunc(r.Source, unicode.IsControl) >= 0:
		t.wrong("source", "source has control characters or over %d of them", maxSourceText)
	}
	return r, !t.bad
}

const partChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+"

// part reads a part of a key, which may have letters, digits and . _ - + only.
func (t *rowText) part(column string) string {
	s := t.cells[column]
	switch {
	case s == "":
		t.wrong(column, "%s is empty", column)
	case utf8.RuneCountInString(s) > maxKeyPart:
		t.wrong(column, "%s has %d characters; at most %d are allowed", column, utf8.RuneCountInString(s), maxKeyPart)
	case strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune(partChars, r) }):
		t.wrong(column, "%s is %s; it is part of a key, so it may have letters, digits and . _ - + only", column, capcli.Quoted(s))
	}
	return s
}

func (t *rowText) gpus(r *Row) {
	n, err := strconv.Atoi(t.cells["gpus"])
	if err != nil || n < 1 || n > maxGPUs {
		t.wrong("gpus", "gpus: want a whole number of 1 to %d, found %s", maxGPUs, capcli.Quoted(t.cells["gpus"]))
		return
	}
	r.GPUs = n
}

func (t *rowText) term(r *Row) {
	term, ok := NormalTerm(t.cells["term"])
	if !ok {
		t.wrong("term", "term: want on_demand, spot, per_use, block or a length such as 3mo, 1y, 3y, found %s", capcli.Quoted(t.cells["term"]))
		return
	}
	var payment string
	r.Term, payment, _ = strings.Cut(term, "-")
	r.Payment = strings.ToLower(t.cells["payment"])
	switch {
	case r.Payment == "":
		r.Payment = payment
	case payment != "" && payment != r.Payment:
		t.wrong("payment", "payment is %s, but the term says %s", capcli.Quoted(r.Payment), payment)
	case !slices.Contains(payments, r.Payment):
		t.wrong("payment", "payment: want none, partial or all, found %s", capcli.Quoted(t.cells["payment"]))
	case slices.Contains([]string{"on_demand", "spot", "per_use", "block"}, r.Term):
		t.wrong("payment", "payment is of contracts with a length such as 1y; leave it out for %s", r.Term)
	}
}

func (t *rowText) readFree(r *Row) {
	switch s := strings.ToLower(t.cells["free"]); s {
	case "", "false":
	case "true":
		r.Free = true
	default:
		t.wrong("free", "free: want true or false, found %s", capcli.Quoted(s))
	}
}

// price reads the price of the machine, of a GPU, or of both.
func (t *rowText) price(r *Row) {
	const machine, gpu = "usd_per_hour", "usd_per_gpu_hour"
	switch {
	case t.cells[machine] == "" && t.cells[gpu] == "":
		if r.Free {
			return
		}
		t.wrong(machine, "%s is empty; give it, or %s", machine, gpu)
	case r.GPUs == 0: // already a fault
	case t.cells[machine] == "":
		if u, ok := t.usd(gpu, r, 1); ok {
			r.Hourly = u * capcli.USD(r.GPUs)
		}
	default:
		u, ok := t.usd(machine, r, r.GPUs)
		if !ok {
			return
		}
		r.Hourly = u
		if t.cells[gpu] == "" {
			return
		}
		if per, ok := t.usd(gpu, r, 1); ok && per != r.PerGPU() {
			t.wrong(gpu, "%s is %s, but %s for %d GPUs is %s for one", gpu, per.Decimal(), u.Decimal(), r.GPUs, r.PerGPU().Decimal())
		}
	}
}

// usd reads an amount for the given number of GPUs. It reports false after a fault.
func (t *rowText) usd(column string, r *Row, gpus int) (capcli.USD, bool) {
	s := t.cells[column]
	u, err := capcli.ParseUSD(s)
	most := Dearest * capcli.USD(gpus)
	switch {
	case strings.HasPrefix(s, "-"):
		t.wrong(column, "%s is %s; a price is not negative", column, capcli.Quoted(s))
	case err != nil && strings.Count(s, ",") == 1 && !strings.Contains(s, "."):
		t.wrong(column, "%s is %s: a comma is no decimal point; write %s", column, capcli.Quoted(s), strings.Replace(s, ",", ".", 1))
	case err != nil || !strings.ContainsAny(s, "0123456789"):
		t.wrong(column, "%s: want US dollars such as 2.20, at most six decimal places, found %s", column, capcli.Quoted(s))
	case u > most:
		t.wrong(column, "%s is %s for %d GPUs; at most %s for one is believed", column, u, gpus, Dearest)
	case u == 0 && !r.Free:
		t.wrong(column, "%s is 0; if this machine is free to you, write free: true", column)
	case u > 0 && r.Free:
		t.wrong(column, "free: true, but %s is %s; leave one out", column, u.Decimal())
	default:
		return u, true
	}
	return 0, false
}

func (t *rowText) date(r *Row) {
	at, err := time.Parse(time.DateOnly, t.cells["date"])
	if err != nil || at.Year() < 1970 {
		t.wrong("date", "date: want a day such as 2026-07-30, found %s", capcli.Quoted(t.cells["date"]))
		return
	}
	r.Date = capcli.TimeOf(at)
}

// checkSame refuses two prices for one key and date, and one machine with two GPU models or counts.
func checkSame(d *strict.Decoder, p *List) {
	type dated struct {
		key string
		at  capcli.Time
	}
	first, machines := map[dated]int{}, map[string]int{}
	for i := range p.rows {
		r := &p.rows[i]
		at := dated{r.Key(), r.Date}
		if k, twice := first[at]; twice {
			d.FaultLine(r.Line, "%s on %s is there twice, first in line %d", at.key, r.Date.Date(), p.rows[k].Line)
			continue
		}
		first[at] = i
		k, known := machines[r.machineKey()]
		if !known {
			machines[r.machineKey()] = i
			continue
		}
		if o := &p.rows[k]; !strings.EqualFold(o.GPU, r.GPU) || o.GPUs != r.GPUs {
			d.FaultLine(r.Line, "%s has %d × %s here and %d × %s in line %d", r.machineKey(), r.GPUs, r.GPU, o.GPUs, o.GPU, o.Line)
		}
	}
}
