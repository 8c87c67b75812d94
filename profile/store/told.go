package store

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"capcli"

	"capcli/profile"
	"capcli/profile/logs/parquet"
)

// Indexes of the columns of the table told.
const (
	toldTS = iota
	toldUUID
	toldName
	toldHolder
	toldMicros
	toldSum
	toldBins
)

func toldSpec() spec {
	s := spec{name: "told", key: toldTS, order: []int{toldUUID, toldName, toldHolder}}
	s.add(toldTS, "begin of the hour, UTC", parquet.Column{Name: "ts", Kind: parquet.Instant, Packing: parquet.Deltas})
	s.add(toldUUID, "of the device of the rank that told it", word("gpu_uuid", true))
	s.add(toldName, "name of the figure", word("name", false))
	s.add(toldHolder, "job whose program told it, as JSON; null where nobody can be named", word("holder", true))
	s.add(toldMicros, "time for which its figures stand", parquet.Column{Name: "told_us", Kind: parquet.Int64})
	s.add(toldSum, "sum of figure x microseconds, in millionths", parquet.Column{Name: "told_sum", Kind: parquet.Text})
	s.add(toldBins, "histogram, bin:microseconds apart by blanks; a bin is 32 times the binary logarithm of the figure", parquet.Column{Name: "told_bins", Kind: parquet.Text})
	return s
}

// toldRows turns what programs told into rows of the table told.
type toldRows struct{ *block }

func (r *toldRows) add(s *profile.ToldSpan) {
	b := r.block
	b.int(toldTS, int64(s.Hour))
	b.text(toldUUID, s.Device)
	b.cols[toldName].AddText(s.Name)
	holder := ""
	if s.Holder.Kind != "" {
		text, err := json.Marshal(&s.Holder)
		if err != nil {
			panic(err) // texts and numbers can always be written
		}
		holder = string(text)
	}
	b.text(toldHolder, holder)
	b.int(toldMicros, s.Told.Micros)
	b.cols[toldSum].AddText(fmt.Sprintf("%x:%x", s.Told.Sum.Hi, s.Told.Sum.Lo))
	bins := capcli.Map(s.Told.Bins, func(x profile.ToldBin) string { return fmt.Sprintf("%d:%d", x.At, x.Micros) })
	b.cols[toldBins].AddText(strings.Join(bins, " "))
	b.n++
}

// toldAt returns what a row tells.
func toldAt(b *block, row int, host string) (*profile.ToldSpan, error) {
	s := &profile.ToldSpan{Host: host, Hour: profile.Instant(b.intAt(toldTS, row)), Device: b.textAt(toldUUID, row), Name: b.textAt(toldName, row)}
	if text := b.textAt(toldHolder, row); text != "" {
		if err := json.Unmarshal([]byte(text), &s.Holder); err != nil {
			return nil, errRow(row, "holder: %v", err)
		}
	}
	s.Told.Micros = b.intAt(toldMicros, row)
	high, low, _ := strings.Cut(b.textAt(toldSum, row), ":")
	var err1, err2 error
	s.Told.Sum.Hi, err1 = strconv.ParseUint(high, 16, 64)
	s.Told.Sum.Lo, err2 = strconv.ParseUint(low, 16, 64)
	if err1 != nil || err2 != nil || s.Told.Micros < 0 {
		return nil, errRow(row, "sum %q of %d microseconds", b.textAt(toldSum, row), s.Told.Micros)
	}
	last := int64(math.MinInt64)
	for one := range strings.FieldsSeq(b.textAt(toldBins, row)) {
		at, micros, _ := strings.Cut(one, ":")
		k, err1 := strconv.ParseInt(at, 10, 32)
		n, err2 := strconv.ParseInt(micros, 10, 64)
		if err1 != nil || err2 != nil || n < 0 || k <= last {
			return nil, errRow(row, "%v: %q", errBins, one)
		}
		last = k
		s.Told.Bins = append(s.Told.Bins, profile.ToldBin{At: int32(k), Micros: n})
	}
	return s, nil
}
