// Package vary answers what becomes of a decision with other numbers: other sizes, demands, terms, prices and
// limits. It needs no file, so a page can carry it. Purchases that cover are priced hour by hour on the futures of
// the decision; sizes of fenced GPUs are those that were played.
package vary

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"capcli"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/outcome"
)

// Schema is the schema of a World.
const Schema = "capcli/vary/v1"

// World is all that a page needs of a decision.
type World struct {
	Schema   string         `json:"schema"`
	Start    capcli.Time    `json:"start"`
	Step     capcli.Seconds `json:"step_s"`
	Steps    int            `json:"steps"`
	Count    int            `json:"futures"`
	Demand   []byte         `json:"demand"` // a pack of the demand of the futures
	Lot      int64          `json:"lot_milli"`
	OnHand   []plan.Held    `json:"held"`
	Bought   []Purchase     `json:"bought"` // of the decision, by date
	Terms    []Term         `json:"terms"`  // commitments that cover and have a price; none where only a place can be had
	OnDemand Price          `json:"on_demand"`
	Spot     *Price         `json:"spot"` // null where none is listed

	Limits  []string `json:"limits"` // as outcome.ParseCheck reads them
	Hold    float64  `json:"hold_share"`
	Places  []Place  `json:"places"`            // sizes of fenced GPUs that were played
	Fenced  *Price   `json:"fenced"`            // null where no place can be had
	Command string   `json:"command"`           // that asks the question of the decision again
	Decided *Figures `json:"decided,omitempty"` // of the purchases, as the decision has them
}

// Purchase is GPUs bought on a term. From and To are seconds from the start.
type Purchase struct {
	Term  int            `json:"term"` // index in Terms
	From  capcli.Seconds `json:"from_s"`
	To    capcli.Seconds `json:"to_s"`
	Milli int64          `json:"gpus_milli"`
	Rate  capcli.Rate    `json:"usd_per_gpu_hour"`
}

// Term is a commitment at a price.
type Term struct {
	Name   string      `json:"term"`
	Months int         `json:"months"`
	Rate   capcli.Rate `json:"usd_per_gpu_hour"`
}

// Price is a price of a GPU-hour.
type Price struct {
	Key  string      `json:"key"`
	Rate capcli.Rate `json:"usd_per_gpu_hour"`
}

// Place is a size of fenced GPUs with a patience, as it was played with the jobs of the futures.
type Place struct {
	GPUs     int        `json:"gpus"`
	Patience string     `json:"patience"`
	Cost     capcli.USD `json:"cost_usd"`
	OnDemand capcli.USD `json:"on_demand_usd"`
	Bills    capcli.USD `json:"bills_usd,omitempty"` // of what covers the use on demand, bought beside it
	WaitP95  float64    `json:"wait_p95_s"`          // mean over the futures
	Unserved float64    `json:"unserved_share"`
	Held     float64    `json:"held_share"`
}

// Most of what a page carries.
const (
	mostFutures = 10_000
	mostValues  = 4_000_000 // in all futures
	mostMonths  = 120
	mostMilli   = 1_000_000_000     // thousandths of GPUs
	mostRate    = 1_000_000_000_000 // millionths of a dollar
	mostLength  = 100 * 366 * capcli.Day
)

// Pack returns the demand of a meter, deflated: for each future the difference of each step from the one before, as
// varints. It fails with *capcli.RequestError where there is too much for a page.
func Pack(m *plan.Meter) ([]byte, error) {
	if n := len(m.Milli) * len(m.Milli[0]); n > mostValues {
		return nil, &capcli.RequestError{
			Field: "live", Text: fmt.Sprintf(": %s futures of %s hours are too much for a page, which carries %s hours in all", capcli.Grouped(int64(len(m.Milli))), capcli.Grouped(int64(len(m.Milli[0]))), capcli.Grouped(mostValues)),
			Hint: fmt.Sprintf("capcli decide --paths %d, or a shorter --horizon", max(2, mostValues/len(m.Milli[0])/10*10)),
		}
	}
	var b []byte
	for _, row := range m.Milli {
		last := int32(0)
		for _, v := range row {
			b = binary.AppendVarint(b, int64(v)-int64(last))
			last = v
		}
	}
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(b)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

// Meter returns the meter of the futures. It fails with *capcli.InputError where the world is damaged.
func (w *World) Meter() (*plan.Meter, error) {
	if w.Schema != Schema {
		return nil, damaged(fmt.Sprintf("expected %s, found %.40q", Schema, w.Schema))
	}
	if w.Count < 1 || w.Count > mostFutures || w.Steps < 1 || w.Steps > mostValues/w.Count || w.Lot < 1 || w.Lot > mostMilli || w.Step < 1 || w.Step > mostLength/capcli.Seconds(w.Steps) {
		return nil, damaged(fmt.Sprintf("expected futures of at most %d hours in all, found %d of %d", mostValues, w.Count, w.Steps))
	}
	in := io.LimitReader(flate.NewReader(bytes.NewReader(w.Demand)), int64(w.Count)*int64(w.Steps)*binary.MaxVarintLen32+1)
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, damaged("expected deflated demands, found " + err.Error())
	}
	m := &plan.Meter{Origin: w.Start, Step: w.Step}
	for range w.Count {
		row, last := make([]int32, w.Steps), int64(0)
		for k := range row {
			by, n := binary.Varint(text)
			if last += by; n <= 0 || last < 0 || last > 1<<31-1 {
				return nil, damaged(fmt.Sprintf("expected a demand in step %d, found none that can be", k))
			}
			row[k], text = int32(last), text[n:]
		}
		m.Milli = append(m.Milli, row)
	}
	if len(text) > 0 {
		return nil, damaged(fmt.Sprintf("expected an end, found %d more bytes", len(text)))
	}
	return m, m.Check()
}

func damaged(text string) error {
	return &capcli.InputError{File: "decision", Text: text, Hint: "make the page again with capcli report --live"}
}

func (w *World) checks() ([]outcome.Check, error) {
	var out []outcome.Check
	for _, text := range w.Limits {
		c, err := outcome.ParseCheck(text)
		if err != nil {
			return nil, damaged(err.Error())
		}
		out = append(out, c)
	}
	return out, nil
}

// check fails with *capcli.InputError where a purchase or a term cannot be.
func (w *World) check() error {
	for _, t := range w.Terms {
		if t.Months < 1 || t.Months > mostMonths || t.Rate < 0 || t.Rate > mostRate {
			return damaged(fmt.Sprintf("expected terms of 1 to %d months, found %s of %d at %s", mostMonths, t.Name, t.Months, t.Rate.Decimal()))
		}
	}
	for _, p := range w.Bought {
		if p.Term < 0 || p.Term >= len(w.Terms) || p.Milli < 0 || p.Milli > mostMilli || p.Rate < 0 || p.Rate > mostRate {
			return damaged(fmt.Sprintf("expected purchases of a term, found term %d of %d", p.Term, len(w.Terms)))
		}
	}
	if len(w.Places) > 0 && w.Fenced == nil {
		return damaged("expected the price of fenced GPUs with their sizes")
	}
	if w.OnDemand.Rate < 0 || w.OnDemand.Rate > mostRate {
		return damaged("expected an on-demand price of 0 or more")
	}
	return nil
}
