package inputs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/scenarios/money/prices"
)

// Billed is what bills say of the GPUs that count.
type Billed struct {
	Held []Held
	// Paid is what a GPU-hour on demand cost, the mean over OnDemand; 0 where there is none.
	Paid     capcli.Rate
	OnDemand capcli.GPUTime
	// Use is the time of GPUs by the hour, on demand and under commitments.
	Use map[capcli.Time]capcli.GPUTime

	cost capcli.USD
	by   map[string]*commitment // those of all bills
	ids  []string
}

// Held is a commitment of a bill.
type Held struct {
	ID          string
	GPUs        float64
	From, Until capcli.Time // NoTime where the bill does not say
	Why         string      // why it cannot be counted; "" where it can
	// Of a commitment to dollars an hour: these, what other use draws of them, and the price at which a GPU-hour draws.
	Dollars, Others capcli.USD
	Rate            capcli.Rate
}

// Text returns the commitment as --held takes it: 64@2026-01-01..2027-01-01.
func (h *Held) Text() string {
	return fmt.Sprintf("%g@%s..%s", h.GPUs, timeText(h.From), timeText(h.Until))
}

// timeText writes a time; midnight is a date, and NoTime is left open.
func timeText(t capcli.Time) string {
	switch {
	case !t.IsKnown():
		return ""
	case t%capcli.Time(capcli.Day) == 0:
		return t.Date()
	}
	return t.String()
}

// spend is the category of commitments to dollars.
const spend = "Spend"

// billRead is a bill in the making.
type billRead struct {
	*reading
	*part
	out      *Billed
	machines map[string]prices.Row

	rows, others int64 // rows, and those of other use than that of GPUs that count
	last         capcli.Time
	first        capcli.Time
	use          capcli.GPUTime
}

// machine is what a SKU is: the GPUs of one unit.
type machine struct {
	gpus  int64 // 0 is no GPU, or none that counts
	model string
}

// commitment is a commitment in the making.
type commitment struct {
	gpus        int64 // of a unit
	once        bool  // a purchase for its whole term
	from, until capcli.Time
	units       float64 // that were bought; 0 is not known
	quantity    float64 // unit-hours that were used or not used
	usedFrom    capcli.Time
	usedUntil   capcli.Time
	spend       bool
	// Of a commitment to dollars an hour: what was drawn in all, and by GPUs that count, with their time.
	drawn, byGPUs float64
	work          capcli.GPUTime
}

// readBills reads what bills say: what is held, what was paid on demand, and the use by the hour.
func (r *reading) readBills(ctx context.Context) error {
	bills := r.partsOf(Bill)
	if len(bills) == 0 {
		return nil
	}
	all := &Billed{Use: map[capcli.Time]capcli.GPUTime{}, by: map[string]*commitment{}}
	r.set.Bill = all
	list := r.Prices
	if list == nil {
		list = prices.Catalogue()
	}
	machines := map[string]prices.Row{}
	for _, q := range list.Quotes() {
		machines[strings.ToLower(q.Machine)] = q.Row
	}
	for _, p := range bills {
		b := &billRead{reading: r, part: p, out: all, machines: machines, first: capcli.NoTime, last: capcli.NoTime}
		if err := b.read(ctx); err != nil {
			return err
		}
	}
	slices.Sort(all.ids)
	var texts []string
	for _, id := range all.ids {
		h := all.by[id].heldGPUs(id)
		if all.Held = append(all.Held, h); h.Why == "" {
			texts = append(texts, h.Text())
		}
	}
	if len(texts) > 0 {
		bills[0].Took += "; held: " + strings.Join(texts, ", ")
	}
	if all.OnDemand > 0 {
		all.Paid = capcli.USDOf(all.cost.Float() / all.OnDemand.Hours())
	}
	return nil
}

func (b *billRead) read(ctx context.Context) (err error) {
	defer func() {
		var wrong *capcli.InputError
		if errors.As(err, &wrong) && strings.Contains(wrong.Hint, "--spreadsheet") {
			wrong.Hint = "a spreadsheet wrote this: export the bill again, with dates such as 2027-01-01T00:00:00Z and amounts such as 1234.56"
		}
	}()
	if b.SHA256, err = b.hash(b.File); err != nil {
		return err
	}
	in, closer, err := b.Sources.Open(b.File)
	if err != nil {
		return err
	}
	defer closer.Close() //nolint:errcheck // it was only read
	text, err := trace.Unpack(in)
	if err != nil {
		return err
	}
	rows, err := focus.NewReader(b.File, text, focus.Options{})
	if err != nil {
		return err
	}
	at, end := b.progress("rows")
	for row, err := range rows.Rows() {
		if err == nil {
			err = b.add(row)
		}
		if err != nil {
			return err
		}
		if b.rows++; b.rows%4096 == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			at(b.rows)
		}
	}
	end(b.rows)
	rep := rows.Report()
	b.note(b.File, rep.Assumed...)
	return b.conclude(rep.Currency)
}

// machineOf returns what a row is of. A SKU that the price list has as a machine has its GPUs; another one that
// names a GPU model is one GPU.
func (b *billRead) machineOf(row *focus.Row) machine {
	k := billing.FocusSKU(row)
	name := k.Family
	if k.Size != "" {
		name += "." + k.Size
	}
	m := machine{model: k.GPUModel}
	if q, ok := b.machines[strings.ToLower(name)]; ok {
		m.model, m.gpus = q.GPU, int64(q.GPUs)
	} else if m.model != "" {
		m.gpus = 1
	}
	if m.model == "" || !b.counts(m.model) {
		m.gpus = 0
	}
	return m
}

func (b *billRead) add(row *focus.Row) error {
	m := b.machineOf(row)
	if row.CommitmentDiscountCategory == spend && row.CommitmentDiscountID != "" && row.ChargeClass != "Correction" {
		b.commitmentOf(row.CommitmentDiscountID).addSpend(row, m)
	}
	if m.gpus == 0 || row.ChargeClass == "Correction" {
		b.others++
		return nil
	}
	from, to := row.ChargePeriodStart, row.ChargePeriodEnd
	if !from.IsKnown() || to <= from {
		b.others++
		return nil
	}
	if row.CommitmentDiscountID != "" && row.CommitmentDiscountCategory != spend {
		b.commitmentOf(row.CommitmentDiscountID).add(row, m)
	}
	second := billing.UnitSeconds(row.ConsumedUnit)
	unused := row.CommitmentDiscountStatus == focus.Unused || row.CapacityReservationStatus == focus.Unused
	if row.ChargeCategory != focus.Usage || unused || second == 0 || !row.ConsumedQuantity.Known {
		return nil
	}
	if to-from > 400*capcli.Time(capcli.Day) {
		return &capcli.InputError{File: b.File, Line: row.Line, Field: "ChargePeriodEnd", Text: "expected a charge period of at most 400 days"}
	}
	work := capcli.GPUTime(math.Round(row.ConsumedQuantity.Float() * float64(second) * float64(m.gpus) * 1000))
	if work <= 0 || work > 1<<52 {
		return nil
	}
	b.spread(from, to, work)
	if row.PricingCategory == focus.Standard && row.CommitmentDiscountID == "" {
		cost, err := row.EffectiveCost.USD()
		if err != nil {
			return &capcli.InputError{File: b.File, Line: row.Line, Field: "EffectiveCost", Text: err.Error()}
		}
		b.out.cost, b.out.OnDemand = b.out.cost+cost, b.out.OnDemand+work
	}
	return nil
}

// spread adds work to the hours of a charge period, evenly.
func (b *billRead) spread(from, to capcli.Time, work capcli.GPUTime) {
	b.use += work
	if !b.first.IsKnown() || from < b.first {
		b.first = from
	}
	b.last = max(b.last, to)
	done := capcli.GPUTime(0)
	for at := from / hour * hour; at < to; at += hour {
		upTo := capcli.GPUTime(math.Round(float64(work) * float64(min(to, at+hour)-from) / float64(to-from)))
		b.out.Use[at] += upTo - done
		done = upTo
	}
}

func (b *billRead) commitmentOf(id string) *commitment {
	k := b.out.by[id]
	if k == nil {
		k = &commitment{from: capcli.NoTime, until: capcli.NoTime, usedFrom: capcli.NoTime, usedUntil: capcli.NoTime}
		b.out.by[id] = k
		b.out.ids = append(b.out.ids, id)
	}
	return k
}

func (k *commitment) add(row *focus.Row, m machine) {
	k.gpus = max(k.gpus, m.gpus)
	from, to := row.ChargePeriodStart, row.ChargePeriodEnd
	hours := float64(to-from) / 3600
	n := row.CommitmentDiscountQuantity
	if row.ChargeCategory == focus.Purchase {
		if row.ChargeFrequency == "One-Time" {
			k.once, k.from, k.until = true, from, to
		}
		if n.Known && billing.UnitSeconds(row.CommitmentDiscountUnit) == 3600 {
			k.units = max(k.units, n.Float()/hours)
		}
		return
	}
	if row.ChargeCategory != focus.Usage || !n.Known {
		return
	}
	k.quantity += n.Float()
	if !k.usedFrom.IsKnown() || from < k.usedFrom {
		k.usedFrom = from
	}
	k.usedUntil = max(k.usedUntil, to)
}

// addSpend adds a row to a commitment to dollars an hour, whatever it is of.
func (k *commitment) addSpend(row *focus.Row, m machine) {
	k.spend = true
	from, to := row.ChargePeriodStart, row.ChargePeriodEnd
	n := row.CommitmentDiscountQuantity
	if row.ChargeCategory == focus.Purchase && row.ChargeFrequency == "One-Time" {
		k.once, k.from, k.until = true, from, to
	}
	if row.ChargeCategory != focus.Usage || !n.Known || to <= from {
		return
	}
	k.quantity += n.Float()
	if !k.usedFrom.IsKnown() || from < k.usedFrom {
		k.usedFrom = from
	}
	k.usedUntil = max(k.usedUntil, to)
	if row.CommitmentDiscountStatus == focus.Unused {
		return
	}
	k.drawn += n.Float()
	if second := billing.UnitSeconds(row.ConsumedUnit); m.gpus > 0 && second > 0 && row.ConsumedQuantity.Known {
		k.byGPUs += n.Float()
		k.work += capcli.GPUTime(math.Round(row.ConsumedQuantity.Float() * float64(second) * float64(m.gpus) * 1000))
	}
}

// dollarsAsGPUs returns a commitment to dollars an hour as GPUs: what is committed by the hour, less what other use draws,
// over the price at which GPUs that count draw on it.
func (k *commitment) dollarsAsGPUs(id string) Held {
	h := Held{ID: id, From: k.from, Until: k.until}
	hours := float64(k.usedUntil-k.usedFrom) / 3600
	switch {
	case k.work <= 0 || k.byGPUs <= 0 || hours <= 0:
		h.Why = "it commits to dollars an hour, and no GPU that counts draws on it in the bill, so the price at which it covers them is not known"
		return h
	case !k.once:
		h.Why = "the bill does not say when it ends: it is paid month by month"
	}
	h.Dollars, h.Rate = capcli.USDOf(k.quantity/hours), capcli.USDOf(k.byGPUs/k.work.Hours())
	h.Others = capcli.USDOf((k.drawn - k.byGPUs) / hours)
	h.GPUs = math.Floor((k.quantity-k.drawn+k.byGPUs)/hours/(k.byGPUs/k.work.Hours())*1000+1e-6) / 1000
	return h
}

// heldGPUs returns the commitment as GPUs with an end, or says why it cannot be counted.
func (k *commitment) heldGPUs(id string) Held {
	if k.spend {
		return k.dollarsAsGPUs(id)
	}
	h := Held{ID: id, From: k.from, Until: k.until}
	units := k.units
	if units == 0 && k.usedUntil > k.usedFrom {
		units = k.quantity * 3600 / float64(k.usedUntil-k.usedFrom)
	}
	h.GPUs = math.Round(units*float64(k.gpus)*1000) / 1000
	switch {
	case h.GPUs <= 0:
		h.Why = "the bill does not say how many GPUs it has"
	case !k.once:
		h.Why = "the bill does not say when it ends: it is paid month by month"
	}
	return h
}

func (b *billRead) conclude(currency string) error {
	switch {
	case b.rows == 0:
		return &capcli.InputError{File: b.File, Text: "the bill is empty: expected rows of use, found the header alone", Hint: "check how it was exported"}
	case b.use == 0 && len(b.out.ids) == 0:
		what := "GPUs"
		if b.GPU != "" {
			what = b.GPU
		}
		return &capcli.InputError{
			File: b.File, Text: fmt.Sprintf("expected use of %s, found none in %s", what, listed(int(b.rows), "row")),
			Hint: "a machine counts where the price list knows its GPUs (capcli prices list), or SkuPriceDetails has x_GpuModel",
		}
	}
	if currency != "USD" {
		b.out.cost, b.out.OnDemand = 0, 0
		b.note(b.File, "it is in "+currency+": its prices are not compared with the list's")
	}
	b.GPUHours = b.use
	if b.first.IsKnown() {
		b.Days = daysOf(capcli.Seconds(b.last - b.first))
	}
	b.Took = fmt.Sprintf("%s GPU-hours in use, %s", hoursText(b.use.Hours()), DaysText(b.Days))
	if b.others > 0 {
		b.Took += fmt.Sprintf("; %s of %s are of other things", capcli.Grouped(b.others), listed(int(b.rows), "row"))
	}
	return nil
}

// billJobs returns the use of the bills as jobs, where no other input has any: GPUs that are there always.
func (r *reading) billJobs() ([]capcli.Job, error) {
	bills := r.partsOf(Bill)
	if len(bills) == 0 || len(r.set.Bill.Use) == 0 {
		return nil, nil
	}
	first, last := capcli.NoTime, capcli.NoTime
	for at := range r.set.Bill.Use {
		if !first.IsKnown() || at < first {
			first = at
		}
		last = max(last, at)
	}
	l := levels{at: func(i int) capcli.Time { return first + capcli.Time(i)*hour }, unit: 1, like: capcli.Job{Tenant: "bill", GPUModel: r.GPU}}
	for at := first; at <= last; at += hour {
		l.milli = append(l.milli, int64(r.set.Bill.Use[at])/int64(capcli.Hour))
	}
	p := bills[0]
	var err error
	if p.jobs, err = l.jobs(); err != nil {
		return nil, &capcli.InputError{File: p.File, Text: err.Error()}
	}
	p.Took += "; there is no job log, so its use is the demand, of which no job is known"
	return p.jobs, nil
}
