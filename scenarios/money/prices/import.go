package prices

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"capcli"
)

// ImportOptions say how to read a price list that is not a price file.
type ImportOptions struct {
	Format string            // a name of Formats; "" detects it from the header
	Map    map[string]string // from our column, or a term, to the list's column; a suffix /730 converts a monthly price into an hourly one
	Set    map[string]string // value of our column in all rows
	PerGPU bool              // prices are per GPU rather than per machine
	Reject func(line int, reason, text string)
}

// Formats are the forms that price lists come in.
var Formats = func() (c capcli.Catalog[struct{}]) {
	c.Kind = "format of price list"
	c.Add("table", "CSV with a row for each machine, or for each machine and term; columns told by their names, or by --map", struct{}{})
	c.Add("gcp", "the same of Google Cloud: machine_type, hour_ondemand, hour_spot, month_1y, month_3y", struct{}{})
	c.Add("aws", "the price list in CSV that AWS publishes for EC2: Linux machines with GPUs, shared tenancy", struct{}{})
	c.Add("focus", "a bill in FOCUS: unit prices of the machines in it", struct{}{})
	return c
}()

// ImportReport is the result of an import: the document of prices import. Every price of the list
// is kept, repeated or rejected.
type ImportReport struct {
	Schema   string   `json:"schema"`
	Input    string   `json:"input"`
	Format   string   `json:"format"`
	Output   string   `json:"output"` // the price file, if the caller wrote one
	Rows     int64    `json:"rows"`   // lines read
	Prices   int64    `json:"prices"` // found in the rows: Kept + Repeated + Rejected
	Kept     int64    `json:"kept"`
	Repeated int64    `json:"repeated"` // same price, key and date as an earlier one
	Rejected int64    `json:"rejected"`
	Skipped  int64    `json:"skipped_rows"` // rows that are no prices, as Reasons say
	Rounded  int64    `json:"rounded"`      // of Kept, rounded to the millionth of a dollar
	Renamed  int64    `json:"renamed"`      // of Kept, given the GPU model of the machine's latest price
	Doubtful int64    `json:"doubtful"`     // of Kept, contracts no cheaper than on demand
	Reasons  []Reason `json:"reasons"`
	Columns  []string `json:"price_columns"`   // columns of the list read as prices, "1y from month_1y/730"
	Ignored  []string `json:"ignored_columns"` // columns not used
}

// Reason is a reason for rejecting prices or skipping rows, with their number.
type Reason struct {
	Text    string `json:"reason"`
	N       int64  `json:"n"`
	Skipped bool   `json:"skipped"` // whether it is a reason for skipping rows
}

// Import reads a price list. It fails with *capcli.InputError if the list cannot be read or has no
// valid price, and with *capcli.UnknownError for an unknown format or column.
func Import(file string, r io.Reader, o ImportOptions) (*List, ImportReport, error) {
	im := &importer{
		file: file, o: o, at: map[string]int{}, reasons: map[string]*Reason{}, machines: knownMachines(), places: map[string]int{}, pending: map[string]*offer{},
		report: ImportReport{Schema: "capcli/prices_import/v1", Input: file, Reasons: []Reason{}, Columns: []string{}, Ignored: []string{}},
	}
	if o.Format != "" && o.Format != "auto" {
		if _, err := Formats.Get(o.Format); err != nil {
			return nil, im.report, err
		}
	}
	if err := im.checkOptions(); err != nil {
		return nil, im.report, err
	}
	im.csv = csv.NewReader(&lineLimit{r: r, most: maxLine})
	im.csv.FieldsPerRecord = -1
	im.csv.ReuseRecord = true
	im.csv.Comment = '#'
	if err := im.header(); err != nil {
		return nil, im.report, err
	}
	if err := im.read(); err != nil {
		return nil, im.report, err
	}
	im.settle()
	if len(im.out.rows) == 0 {
		text := "no price in it could be taken"
		if len(im.report.Reasons) > 0 {
			text += ": " + im.report.Reasons[0].Text
		}
		return nil, im.report, im.wrong(0, "", text, "name its columns: --map machine=instance_type,on_demand=price; what all rows share: --set provider=gcp,date=2026-07-30")
	}
	im.out.sort()
	return &im.out, im.report, nil
}

const (
	maxLine    = 1 << 20
	maxColumns = 4096
)

// importer is an import in progress.
type importer struct {
	file     string
	o        ImportOptions
	csv      *csv.Reader
	head     []string
	places   map[string]int // cache of index: columns by name
	line     int            // of the current row
	columns  columns
	pending  map[string]*offer // contracts of an AWS list, by SKU and offer
	out      List
	at       map[string]int // index in out of the latest row by key and date, and by machine
	reasons  map[string]*Reason
	machines map[string]Row // machines of the catalogue by type, which supply what the list leaves out
	report   ImportReport
}

func (im *importer) wrong(line int, field, text, hint string) error {
	return &capcli.InputError{File: im.file, Line: line, Field: field, Text: text, Hint: hint}
}

// knownMachines returns the machines of the catalogue by type.
func knownMachines() map[string]Row {
	out := map[string]Row{}
	for _, r := range Catalogue().rows {
		if r.Region != "any" {
			out[strings.ToLower(r.Machine)] = r
		}
	}
	return out
}

// checkOptions refuses --map and --set for columns that a price file does not have.
func (im *importer) checkOptions() error {
	for _, flag := range []struct {
		name string
		keys []string
	}{{"--map", slices.Sorted(maps.Keys(im.o.Map))}, {"--set", slices.Sorted(maps.Keys(im.o.Set))}} {
		for _, k := range flag.keys {
			if slices.Contains(columnNames(), k) {
				continue
			}
			if _, term := NormalTerm(k); term && flag.name == "--map" {
				continue
			}
			hint := capcli.DidYouMean(k, columnNames())
			return missing("%s: no column %s%s have %s, and terms such as on_demand, 1y", flag.name, capcli.Quoted(k), cmp.Or(hint, ":"), strings.Join(columnNames(), ", "))
		}
	}
	return nil
}

// header reads up to the line of column names and detects the format.
func (im *importer) header() error {
	for range 10 { // AWS writes lines about the list before the columns
		row, err := im.csv.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return im.unreadable(err)
		}
		im.line, _ = im.csv.FieldPos(0)
		if len(row) > maxColumns {
			return im.wrong(im.line, "", fmt.Sprintf("%d columns; at most %d are allowed", len(row), maxColumns), "")
		}
		im.head = make([]string, len(row))
		for i, h := range row {
			im.head[i] = strings.TrimSpace(strings.TrimPrefix(h, "\ufeff"))
		}
		if len(row) > 2 {
			return im.recognise()
		}
	}
	return im.wrong(0, "", "expected a header of columns, found none", "a price list is CSV: machine_type,region,gpu_count,hour_ondemand …")
}

// recognise detects the format by the columns and binds them.
func (im *importer) recognise() error {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return im.index(n) < 0 })
	}
	f := im.o.Format
	if f == "" || f == "auto" {
		switch {
		case has("SKU", "OfferTermCode", "PricePerUnit"):
			f = "aws"
		case has("BilledCost", "ChargeCategory"):
			f = "focus"
		default:
			f = "table"
		}
	}
	im.report.Format = f
	return im.bind()
}

// index returns the index of the column called name, ignoring case and separators; -1 if there is
// none.
func (im *importer) index(name string) int {
	at, known := im.places[name]
	if !known {
		at = slices.IndexFunc(im.head, func(h string) bool { return plainName(h) == plainName(name) })
		im.places[name] = at
	}
	return at
}

// plainName returns a column's name in lower case without separators.
func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" _-/()", r) {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

func (im *importer) read() error {
	for {
		row, err := im.csv.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			if at, ok := errors.AsType[*csv.ParseError](err); ok {
				im.line = at.Line
				im.report.Rows++
				im.report.Prices++
				im.reject("not valid CSV", "")
				continue
			}
			return im.unreadable(err)
		}
		im.line, _ = im.csv.FieldPos(0)
		im.report.Rows++
		if len(im.out.rows) >= maxRows {
			return im.wrong(im.line, "", fmt.Sprintf("over %d prices", maxRows), "keep those that are wanted")
		}
		switch im.report.Format {
		case "aws":
			im.awsRow(row)
		case "focus":
			im.focusRow(row)
		default:
			im.tableRow(row)
		}
	}
}

func (im *importer) unreadable(err error) error {
	in := &capcli.InputError{File: im.file, Text: err.Error(), Err: err}
	if at, ok := errors.AsType[*csv.ParseError](err); ok {
		in.Line, in.Text = at.Line, "not valid CSV: "+at.Err.Error()
	}
	return in
}

// reject counts and reports a price that is not imported.
func (im *importer) reject(reason, text string) {
	im.report.Rejected++
	im.count(reason, false)
	if im.o.Reject != nil {
		im.o.Reject(im.line, reason, text)
	}
}

// skip counts a row that is not a price.
func (im *importer) skip(reason string) {
	im.report.Skipped++
	im.count(reason, true)
}

func (im *importer) count(reason string, skipped bool) {
	r := im.reasons[reason]
	if r == nil {
		r = &Reason{Text: reason, Skipped: skipped}
		im.reasons[reason] = r
	}
	r.N++
}

// settle finishes the prices and sorts the reasons by frequency.
func (im *importer) settle() {
	if im.report.Format == "aws" {
		im.awsOffers()
	}
	im.unifyModels()
	im.countDoubtful()
	for _, reason := range slices.Sorted(maps.Keys(im.reasons)) {
		im.report.Reasons = append(im.report.Reasons, *im.reasons[reason])
	}
	slices.SortStableFunc(im.report.Reasons, func(a, b Reason) int { return cmp.Compare(b.N, a.N) })
}

// unifyModels gives all prices of a machine the GPU model of its latest price: lists name models
// differently over the years.
func (im *importer) unifyModels() {
	latest := map[string]int{}
	for i := range im.out.rows {
		r := &im.out.rows[i]
		if k, known := latest[r.machineKey()]; !known || im.out.rows[k].Date <= r.Date {
			latest[r.machineKey()] = i
		}
	}
	for i := range im.out.rows {
		r := &im.out.rows[i]
		if model := im.out.rows[latest[r.machineKey()]].GPU; r.GPU != model {
			im.report.Renamed++
			r.GPU = model
		}
	}
}

// countDoubtful counts contracts that cost no less than the machine on demand on the same day,
// which usually is an error in the list.
func (im *importer) countDoubtful() {
	list := map[string]capcli.USD{}
	for i := range im.out.rows {
		if r := &im.out.rows[i]; r.Term == "on_demand" {
			list[r.machineKey()+" "+r.Date.Date()] = r.Hourly
		}
	}
	for i := range im.out.rows {
		r := &im.out.rows[i]
		if _, long := r.Months(); long && list[r.machineKey()+" "+r.Date.Date()] > 0 && r.Hourly >= list[r.machineKey()+" "+r.Date.Date()] {
			im.report.Doubtful++
		}
	}
}
