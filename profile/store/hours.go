package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
	"capcli/profile/logs/parquet"
	"capcli/profile/rhythm"
)

// Indexes of the columns of the table hours; those of the device are as in the table samples.
const (
	hourTS = iota
	hourIndex
	hourUUID
	hourUse     = hourIndex + deviceColumns + 9
	hourBegin   = hourUse - 9
	hourFirst   = hourUse - 8
	hourLast    = hourUse - 7
	hourSamples = hourUse - 6
	hourShare   = hourUse - 5
	hourDivided = hourUse - 4
	hourGuessed = hourUse - 3
	hourPart    = hourUse - 2
	hourHolders = hourUse - 1
)

// deviceColumns is the number of columns that describe a device.
const deviceColumns = sampleMetrics - sampleIndex

// devices adds the columns of a device, as the table samples has them.
func (s *spec) devices(at int) {
	from := sampleSpec()
	for i := range deviceColumns {
		s.add(at+i, from.docs[sampleIndex+i], from.columns[sampleIndex+i])
	}
}

func hourSpec() spec {
	const gi, ci = hourIndex + sampleGI - sampleIndex, hourIndex + sampleCI - sampleIndex
	s := spec{name: "hours", key: hourTS, order: []int{hourIndex, gi, ci, hourUUID}}
	instant := func(name string) parquet.Column {
		return parquet.Column{Name: name, Kind: parquet.Instant, Packing: parquet.Deltas}
	}
	s.add(hourTS, "begin of the hour, UTC", instant("ts"))
	s.devices(hourIndex)
	s.add(hourBegin, "where the time begins for which the first sample stands, UTC", instant("begin_ts"))
	s.add(hourFirst, "first sample, UTC", instant("first_ts"))
	s.add(hourLast, "last sample, UTC", instant("last_ts"))
	s.add(hourSamples, "number of samples", parquet.Column{Name: "samples", Kind: parquet.Int64})
	s.add(hourShare, "part of a GPU that the device counts as, in 168ths; times are those of the device, not weighed by it", intColumn("share_168ths", false))
	s.add(hourDivided, "1 where MIG divides the GPU: its share is what no instance has", intColumn("divided", false))
	s.add(hourGuessed, "1 where nothing told of processes, so that memory in use decided who holds the device", intColumn("guessed", false))
	s.add(hourPart, "null for the device; else the row is the share of one of several holders, by its place among them", intColumn("part", true))
	s.add(hourHolders, "jobs that held the device all of this time, as JSON; null where none did", word("holders", true))
	for i := range profile.UseFields {
		s.useField(&profile.UseFields[i])
	}
	return s
}

// useField adds the columns of a field of a Use. Histograms and numbers by index are texts, index:number
// apart by blanks, of which most are 0 and left out.
func (s *spec) useField(f *profile.UseField) {
	column := func(name, doc string, kind parquet.Kind) {
		s.add(len(s.columns), doc, parquet.Column{Name: f.Name + name, Kind: kind})
	}
	switch {
	case f.Micros != nil, f.Sum != nil:
		column("", f.Doc, parquet.Int64)
	case f.Flag != nil:
		column("", f.Doc, parquet.Int32)
	case f.Most != nil:
		column("", f.Doc, parquet.Float64)
	case f.Counts != nil, f.Steps != nil:
		column("", f.Doc, parquet.Text)
	default:
		column("_us", f.Doc+": time in which it was known", parquet.Int64)
		column("_sum", "sum of value x microseconds, in eighths", parquet.Int64)
		if f.Values != nil {
			column("_max", "highest value", parquet.Float64)
			column("_bins", "histogram, bin:microseconds; there are 128 bins", parquet.Text)
		}
	}
}

// errLarge is the error of a sum that is too large for a column.
var errLarge = errors.New("a sum over an hour is over 63 bits")

// holderWords writes the holders of spans as texts; equal texts share their bytes.
type holderWords struct {
	all   []profile.Holder
	words map[string]string
	last  string
}

// text returns the holders of a span as JSON, "" where nobody holds it.
func (h *holderWords) text(s *profile.Span) string {
	if len(s.Parts) == 0 {
		return ""
	}
	same := len(h.all) == len(s.Parts)
	for i := range s.Parts {
		same = same && h.all[i] == s.Parts[i].Holder
	}
	if same {
		return h.last
	}
	h.all = h.all[:0]
	for i := range s.Parts {
		h.all = append(h.all, s.Parts[i].Holder)
	}
	b, err := json.Marshal(h.all)
	if err != nil {
		panic(err) // texts and numbers can always be written
	}
	known, ok := h.words[string(b)]
	if !ok {
		known = string(b)
		h.words[known] = known
	}
	h.last = known
	return known
}

// hourRows turns spans into rows of the table hours.
type hourRows struct {
	*block
	holders *holderWords
	err     error
}

// span adds the rows of a span: one for the device, and where several jobs hold it one for each.
func (r *hourRows) span(s *profile.Span) {
	words := r.holders.text(s)
	r.row(s, words, -1, s.Use)
	if len(s.Parts) > 1 {
		for i := range s.Parts {
			r.row(s, words, i, s.Parts[i].Use)
		}
	}
}

func (r *hourRows) row(s *profile.Span, holders string, part int, u *profile.Use) {
	b := r.block
	b.int(hourTS, int64(s.Hour))
	b.device(hourIndex, s.Device)
	b.int(hourBegin, int64(s.Begin))
	b.int(hourFirst, int64(s.First))
	b.int(hourLast, int64(s.Last))
	b.int(hourSamples, s.Samples)
	b.int(hourShare, s.Share)
	b.int(hourDivided, int64(capcli.Bit(s.Divided)))
	b.int(hourGuessed, int64(capcli.Bit(s.Guessed)))
	b.intOr(hourPart, int64(part), part >= 0)
	b.text(hourHolders, holders)
	col := hourUse
	for i := range profile.UseFields {
		col = r.use(col, &profile.UseFields[i], u)
	}
	b.n++
}

// use adds a field of u and returns the index of the column after it.
func (r *hourRows) use(col int, f *profile.UseField, u *profile.Use) int {
	b := r.block
	switch {
	case f.Micros != nil:
		b.int(col, *f.Micros(u))
	case f.Flag != nil:
		b.int(col, int64(capcli.Bit(*f.Flag(u))))
	case f.Most != nil:
		b.cols[col].AddFloat(*f.Most(u))
	case f.Sum != nil:
		b.int(col, r.sum(f.Sum(u)))
	case f.Counts != nil:
		b.cols[col].AddText(binText(f.Counts(u, false)))
	case f.Steps != nil:
		b.cols[col].AddText(stepText(*f.Steps(u)))
	case f.Mean != nil:
		m := f.Mean(u)
		b.int(col, m.Micros)
		b.int(col+1, r.sum(&m.Sum))
		return col + 2
	default:
		d := f.Values(u)
		b.int(col, d.Micros)
		b.int(col+1, r.sum(&d.Sum))
		b.cols[col+2].AddFloat(d.Max)
		b.cols[col+3].AddText(binText(d.Bins))
		return col + 4
	}
	return col + 1
}

func (r *hourRows) sum(s *profile.Sum) int64 {
	if s.Hi != 0 || s.Lo > math.MaxInt64 {
		r.err = errLarge
	}
	return int64(s.Lo) //nolint:gosec // else the rows are not written
}

// binText returns the numbers that are not 0, as index:number apart by blanks.
func binText(all []int64) string {
	var b []byte
	for i, n := range all {
		if n == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, ':')
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}

var errBins = errors.New("expected index:number apart by blanks")

// parseBins adds to all what binText wrote. It fails where s is no such text, or has an index that all
// lacks.
func parseBins(s string, all []int64) error {
	last := -1
	for s != "" {
		var one string
		one, s, _ = strings.Cut(s, " ")
		place, number, _ := strings.Cut(one, ":")
		at, err1 := strconv.ParseUint(place, 10, 16)
		n, err2 := strconv.ParseUint(number, 10, 60)
		if err1 != nil || err2 != nil || int(at) >= len(all) || int(at) <= last {
			return errBins
		}
		last = int(at)
		all[at] += int64(n)
	}
	return nil
}

// stepText returns lengths of steps as bin:windows:sure ones:microseconds, apart by blanks.
func stepText(all []rhythm.Bin) string {
	var b []byte
	for _, x := range all {
		if len(b) > 0 {
			b = append(b, ' ')
		}
		b = fmt.Appendf(b, "%d:%d:%d:%d", x.At, x.N, x.Sure, x.Micros)
	}
	return string(b)
}

// parseSteps adds to all what stepText wrote. It fails where s is no such text.
func parseSteps(s string, all *[]rhythm.Bin) error {
	for one := range strings.FieldsSeq(s) {
		var n [4]int64
		for i := range n {
			word, rest, _ := strings.Cut(one, ":")
			v, err := strconv.ParseInt(word, 10, 64)
			if err != nil || v < 0 || i < 3 && v > math.MaxInt32 || (rest == "") != (i == 3) {
				return errBins
			}
			n[i], one = v, rest
		}
		x := rhythm.Bin{At: int32(n[0]), N: int32(n[1]), Sure: int32(n[2]), Micros: n[3]}
		if last := len(*all) - 1; last >= 0 && (*all)[last].At >= x.At {
			return errBins
		}
		*all = append(*all, x)
	}
	return nil
}

// spanReader makes spans of the rows of the table hours.
type spanReader struct {
	host    string
	r       *Reader
	holders map[string][]profile.Holder
	span    profile.Span
	uses    []*profile.Use // of the span, and of its parts
}

func newSpanReader(r *Reader, host string) *spanReader {
	return &spanReader{r: r, host: host, holders: map[string][]profile.Holder{}}
}

// errRow is the error of rows that this package did not write.
func errRow(row int, format string, args ...any) error {
	return &capcli.InputError{Text: fmt.Sprintf("row %d: ", row) + fmt.Sprintf(format, args...), Hint: "remove the file: capcli profile compact makes it again"}
}

// read returns the span of the rows of b from row on, and the number of the next row. The span is valid
// until the next call.
func (x *spanReader) read(b *block, row int) (*profile.Span, int, error) {
	s := &x.span
	parts, s2 := s.Parts[:0], profile.Span{
		Host: x.host, Device: x.r.device(deviceAt(b, hourIndex, row)), Hour: profile.Instant(b.intAt(hourTS, row)),
		Begin: profile.Instant(b.intAt(hourBegin, row)), First: profile.Instant(b.intAt(hourFirst, row)), Last: profile.Instant(b.intAt(hourLast, row)),
		Samples: b.intAt(hourSamples, row), Share: b.intAt(hourShare, row), Divided: b.intAt(hourDivided, row) != 0, Guessed: b.intAt(hourGuessed, row) != 0,
	}
	*s = s2
	if !b.cols[hourPart].Null[row] {
		return nil, 0, errRow(row, "expected the row of a device, found that of a holder")
	}
	var err error
	if s.Use, err = x.use(0, b, row); err != nil {
		return nil, 0, err
	}
	holders, err := x.holdersOf(b, row)
	if err != nil {
		return nil, 0, err
	}
	row++
	if len(holders) == 1 {
		s.Parts = append(parts, profile.Part{Holder: holders[0], Use: s.Use})
		return s, row, nil
	}
	for i := range holders {
		if row >= b.n || b.cols[hourPart].Null[row] || b.intAt(hourPart, row) != int64(i) {
			return nil, 0, errRow(row, "expected the share of holder %d of %d", i, len(holders))
		}
		u, err := x.use(1+i, b, row)
		if err != nil {
			return nil, 0, err
		}
		parts = append(parts, profile.Part{Holder: holders[i], Use: u})
		row++
	}
	s.Parts = parts
	return s, row, nil
}

func (x *spanReader) holdersOf(b *block, row int) ([]profile.Holder, error) {
	words := b.textAt(hourHolders, row)
	if words == "" {
		return nil, nil
	}
	all, known := x.holders[words]
	if !known {
		if err := json.Unmarshal([]byte(words), &all); err != nil {
			return nil, errRow(row, "holders: %v", err)
		}
		if len(x.holders) >= maxKnown {
			clear(x.holders)
		}
		x.holders[words] = all
	}
	return all, nil
}

func (x *spanReader) use(k int, b *block, row int) (*profile.Use, error) {
	if k == len(x.uses) {
		x.uses = append(x.uses, profile.NewUse())
	}
	u := x.uses[k]
	u.Reset()
	col := hourUse
	for i := range profile.UseFields {
		f := &profile.UseFields[i]
		next, err := readUse(b, row, col, f, u)
		if err != nil {
			return nil, errRow(row, "%s: %v", f.Name, err)
		}
		col = next
	}
	return u, nil
}

var errBelow = errors.New("under 0")

// readUse sets a field of u and returns the index of the column after it.
func readUse(b *block, row, col int, f *profile.UseField, u *profile.Use) (int, error) {
	number := func(col int) int64 { return b.cols[col].Ints[row] }
	switch {
	case f.Micros != nil:
		n := number(col)
		*f.Micros(u) = n
		if n < 0 {
			return 0, errBelow
		}
	case f.Flag != nil:
		*f.Flag(u) = number(col) != 0
	case f.Most != nil:
		*f.Most(u) = b.cols[col].Floats[row]
	case f.Sum != nil:
		return col + 1, readSum(f.Sum(u), number(col))
	case f.Counts != nil:
		text := b.cols[col].Texts[row]
		if text == "" {
			return col + 1, nil
		}
		return col + 1, parseBins(text, f.Counts(u, true))
	case f.Steps != nil:
		return col + 1, parseSteps(b.cols[col].Texts[row], f.Steps(u))
	case f.Mean != nil:
		m := f.Mean(u)
		m.Micros = number(col)
		return col + 2, readSum(&m.Sum, number(col+1))
	default:
		d := f.Values(u)
		d.Micros, d.Max = number(col), b.cols[col+2].Floats[row]
		if err := readSum(&d.Sum, number(col+1)); err != nil || d.Micros == 0 {
			return col + 4, err
		}
		return col + 4, parseBins(b.cols[col+3].Texts[row], d.Make())
	}
	return col + 1, nil
}

func readSum(s *profile.Sum, n int64) error {
	*s = profile.Sum{Lo: uint64(n)} //nolint:gosec // refused where under 0
	if n < 0 {
		return errBelow
	}
	return nil
}
