package billing

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/scenarios/money/focus"
	"capcli/simulate"
)

// Energy is the power that GPUs draw, and its price in money and carbon.
type Energy struct {
	Held, Idle  int64        // milliwatts of a held GPU, and of a GPU that is up and not held
	Models      []ModelPower // exceptions by GPU model
	PUE         int64        // thousandths of power usage effectiveness, building / GPU power; 0 means 1000
	Price       capcli.Rate  // of a kilowatt-hour
	CarbonPrice capcli.USD   // of a tonne of CO2e
	Budget      Carbon       // for the whole time; 0 means none
	Intensity   Intensity
	Places      []PlaceIntensity // the first that matches the place of a pool goes before Intensity
}

// PlaceIntensity is the carbon of a kilowatt-hour in a place: see capcli.IsWithin.
type PlaceIntensity struct {
	Place     string
	Intensity Intensity
}

// intensityOf returns the number of the intensity of a place: 0 is Intensity, and k the k-th of Places.
func (e *Energy) intensityOf(place string) int {
	for i := range e.Places {
		if place != "" && capcli.IsWithin(place, e.Places[i].Place) {
			return i + 1
		}
	}
	return 0
}

// IntensityOfPlace returns the intensity of a place.
func (e *Energy) IntensityOfPlace(place string) *Intensity { return e.numbered(e.intensityOf(place)) }

// numbered returns the intensity of a number: see intensityOf.
func (e *Energy) numbered(k int) *Intensity {
	if k == 0 {
		return &e.Intensity
	}
	return &e.Places[k-1].Intensity
}

// CarbonOf returns the carbon of a GPU of a model that is held for an hour, and its price. It fails with
// capcli.ErrOverflow.
func (e *Energy) CarbonOf(model string, grid Carbon) (Carbon, capcli.USD, error) {
	drawn, err := e.draw(e.power(model, true), capcli.GPUTime(capcli.Hour)*capcli.GPUSecond)
	if err != nil {
		return 0, 0, err
	}
	carbon, err := emit(drawn, grid)
	if err != nil {
		return 0, 0, err
	}
	price, err := mulDiv(int64(carbon), int64(e.CarbonPrice), int64(Tonne))
	return carbon, capcli.USD(price), err
}

// ModelPower is the power of one GPU model, in milliwatts.
type ModelPower struct {
	GPUModel   string
	Held, Idle int64
}

// MilliWh is energy in thousandths of a watt-hour.
type MilliWh int64

// KWh returns e in kilowatt-hours.
func (e MilliWh) KWh() float64 { return float64(e) / 1e6 }

// MarshalJSON writes e in kilowatt-hours, exactly.
func (e MilliWh) MarshalJSON() ([]byte, error) {
	return []byte(focus.AmountOf(capcli.USD(e)).String()), nil
}

// Carbon is CO2 equivalent in milligrams.
type Carbon int64

// Gram and Tonne are amounts of carbon.
const (
	Gram  Carbon = 1000
	Tonne Carbon = 1_000_000_000
)

// Kg returns c in kilograms.
func (c Carbon) Kg() float64 { return float64(c) / 1e6 }

// MarshalJSON writes c in kilograms, exactly.
func (c Carbon) MarshalJSON() ([]byte, error) {
	return []byte(focus.AmountOf(capcli.USD(c)).String()), nil
}

// Intensity is the carbon of a kilowatt-hour from the grid: one value, or a series over time.
type Intensity struct {
	Flat   Carbon          // of a kilowatt-hour; used where there is no series
	series []intensityStep // in order of time
	end    capcli.Time     // end of the last step
}

type intensityStep struct {
	at   capcli.Time
	grid Carbon
}

// IntensityOf returns the intensity of a series in grams for a kilowatt-hour. It fails for a
// value outside 0 to 100000.
func IntensityOf(samples []Sample) (Intensity, error) {
	var x Intensity
	step := capcli.Time(math.MaxInt64)
	for i, s := range samples {
		grams, err := s.Value.USD() // in millionths
		if err != nil || grams < 0 || grams > 100_000*capcli.Dollar {
			return x, fmt.Errorf("the intensity at %s is %s grams for a kilowatt-hour: want 0 to 100000", s.At, s.Value)
		}
		x.series = append(x.series, intensityStep{s.At, Carbon((grams + 500) / 1000)})
		if i > 0 {
			step = min(step, s.At-samples[i-1].At)
		}
	}
	if n := len(samples); n > 0 { // the last value holds for as long as the shortest step
		if n == 1 {
			step = hour
		}
		x.end = samples[n-1].At + step
	}
	return x, nil
}

// At returns the carbon of a kilowatt-hour at an instant. For an instant outside the series it
// returns the value at the same time of the nearest year that the series covers, and sets
// moved. ok is false where the series covers that time in no year.
func (x *Intensity) At(t capcli.Time) (grid Carbon, moved, ok bool) {
	if len(x.series) == 0 {
		return x.Flat, false, true
	}
	first := x.series[0].at
	at := t
	for years := 1; at < first || at >= x.end; years++ {
		if years > 200 {
			return 0, false, false
		}
		if t >= x.end {
			at = addMonths(t, -12*years)
		} else {
			at = addMonths(t, 12*years)
		}
		if t >= x.end && at < first || t < first && at >= x.end {
			return 0, false, false
		}
	}
	i, exact := slices.BinarySearchFunc(x.series, at, func(s intensityStep, t capcli.Time) int { return cmp.Compare(s.at, t) })
	if !exact {
		i--
	}
	return x.series[i].grid, at != t, true
}

// Footprint is the GPU time of some use, its energy and carbon, and what these cost.
type Footprint struct {
	Held       capcli.GPUTime `json:"held_gpu_hours"`
	Idle       capcli.GPUTime `json:"idle_gpu_hours"`
	Energy     MilliWh        `json:"energy_kwh"`
	Carbon     Carbon         `json:"co2e_kg"`
	PowerCost  capcli.USD     `json:"power_usd"`
	CarbonCost capcli.USD     `json:"carbon_usd"`
}

// figures returns pointers to the fields, in order, to sum and to divide them.
func (f *Footprint) figures() [6]*int64 {
	return [...]*int64{(*int64)(&f.Held), (*int64)(&f.Idle), (*int64)(&f.Energy), (*int64)(&f.Carbon), (*int64)(&f.PowerCost), (*int64)(&f.CarbonCost)}
}

func (f *Footprint) add(o *Footprint) {
	sum := f.figures()
	for i, v := range o.figures() {
		*sum[i] += *v
	}
}

// power returns the power of a GPU of a model, in milliwatts.
func (e *Energy) power(model string, held bool) int64 {
	p := ModelPower{Held: e.Held, Idle: e.Idle}
	for _, m := range e.Models {
		if m.GPUModel == model {
			p = m
		}
	}
	if held {
		return p.Held
	}
	return p.Idle
}

// draw returns the energy of GPU time at a power, times the PUE, rounded half up to the
// milliwatt-hour. It fails with capcli.ErrOverflow.
func (e *Energy) draw(milliwatts int64, t capcli.GPUTime) (MilliWh, error) {
	pue := cmp.Or(e.PUE, 1000)
	if milliwatts > 0 && pue > math.MaxInt64/milliwatts {
		return 0, capcli.ErrOverflow
	}
	v, err := mulDiv(int64(t), milliwatts*pue, 1000*3600*1000)
	return MilliWh(v), err
}

// emit returns the carbon of energy at an intensity, rounded half up to the milligram. It fails
// with capcli.ErrOverflow.
func emit(e MilliWh, grid Carbon) (Carbon, error) {
	v, err := mulDiv(int64(e), int64(grid), 1_000_000)
	return Carbon(v), err
}

// Footprints are the footprint of some use in all, by month and by tenant. The months add up to
// the total, and so do the tenants with Unallocated: to the milliwatt-hour, the milligram and
// the millionth of a dollar.
type Footprints struct {
	Footprint                     // in all
	Months      []FootprintMonth  `json:"months"`
	Tenants     []FootprintTenant `json:"tenants"`                   // in order of name
	Unallocated Footprint         `json:"unallocated"`               // idle power of months without a holder
	Budget      *Carbon           `json:"carbon_budget_kg"`          // nil means none
	At80        *capcli.Time      `json:"reached_80_pct,omitempty"`  // hour that reached 80 % of Budget; nil: none did
	At100       *capcli.Time      `json:"reached_100_pct,omitempty"` // hour that reached 100 %
	At120       *capcli.Time      `json:"reached_120_pct,omitempty"` // hour that reached 120 %
	Moved       int64             `json:"hours_with_intensity_of_another_year"`
}

// FootprintMonth is one calendar month (UTC).
type FootprintMonth struct {
	Name  string      `json:"name"` // 2027-01
	Start capcli.Time `json:"-"`
	Footprint
}

// FootprintTenant is the footprint of one tenant: what it held, and its share of idle power, in
// proportion to the GPU time it held in the month.
type FootprintTenant struct {
	Name          string    `json:"name"`
	Footprint               // in all
	Direct, Share Footprint `json:"-"`
}

// Alerts returns the times at which each of alertPercents of the carbon budget was reached, in
// that order; nil where it was not.
func (f *Footprints) Alerts() [3]*capcli.Time { return [3]*capcli.Time{f.At80, f.At100, f.At120} }

// powerMeter sums GPU time by the clock hour and computes its footprint.
type powerMeter struct {
	e     *Energy
	cells map[powerKey]capcli.GPUTime
}

// powerKey identifies what one tenant held of one model in one hour, or the model's idle time
// in it.
type powerKey struct {
	hour   capcli.Time
	model  string
	tenant string // "" for idle time
	idle   bool
	grid   int // number of the intensity: see Energy.intensityOf
}

// Meter returns an empty meter.
func (e *Energy) Meter() *powerMeter {
	return &powerMeter{e: e, cells: map[powerKey]capcli.GPUTime{}}
}

// AddHeld adds GPU time of a model that a tenant held in the clock hour of at.
func (m *powerMeter) AddHeld(at capcli.Time, model, tenant string, t capcli.GPUTime) {
	m.cells[powerKey{hourOf(at), model, tenant, false, 0}] += t
}

// addHeld adds GPU time of pool p that a tenant held in the clock hour of at.
func (m *powerMeter) addHeld(at capcli.Time, p *simulate.Pool, tenant string, t capcli.GPUTime) {
	m.cells[powerKey{hourOf(at), p.GPUModel, tenant, false, m.e.intensityOf(p.Place.String())}] += t
}

// AddIdle adds GPU time of a model that was up and not held, in the clock hour of at.
func (m *powerMeter) AddIdle(at capcli.Time, model string, t capcli.GPUTime) {
	m.cells[powerKey{hourOf(at), model, "", true, 0}] += t
}

// addIdle adds GPU time of pool p that was up and not held, in the clock hour of at.
func (m *powerMeter) addIdle(at capcli.Time, p *simulate.Pool, t capcli.GPUTime) {
	m.cells[powerKey{hourOf(at), p.GPUModel, "", true, m.e.intensityOf(p.Place.String())}] += t
}

// Footprints returns the footprint of what was added. It fails where the intensity of an hour
// is not known, and with capcli.ErrOverflow.
func (m *powerMeter) Footprints() (*Footprints, error) {
	keys := slices.Collect(maps.Keys(m.cells))
	slices.SortFunc(keys, func(a, b powerKey) int {
		return cmp.Or(cmp.Compare(a.hour, b.hour), cmp.Compare(capcli.Bit(a.idle), capcli.Bit(b.idle)), strings.Compare(a.tenant, b.tenant), strings.Compare(a.model, b.model), cmp.Compare(a.grid, b.grid))
	})
	out := &Footprints{Months: []FootprintMonth{}, Tenants: []FootprintTenant{}}
	if m.e.Budget > 0 {
		out.Budget = &m.e.Budget
	}
	s := &footprintSum{e: m.e, out: out, at: map[string]int{}}
	for _, k := range keys {
		if !k.idle {
			s.tenant(k.tenant)
		}
	}
	for i, k := range keys {
		grid, moved, ok := m.e.numbered(k.grid).At(k.hour)
		if !ok {
			return nil, fmt.Errorf("the carbon of a kilowatt-hour is not known at %s: no year of the series has that hour", k.hour)
		}
		if moved && (i == 0 || keys[i-1].hour != k.hour) {
			out.Moved++
		}
		if err := s.cell(k, m.cells[k], grid); err != nil {
			return nil, err
		}
	}
	return out, s.end()
}

// footprintSum is an unfinished Footprints.
type footprintSum struct {
	e     *Energy
	out   *Footprints
	at    map[string]int // index of a tenant in out.Tenants
	month []Footprint    // of the current month, by tenant
	idle  Footprint      // idle power of the current month
}

// tenant returns the index of a tenant, and adds it where it is new.
func (s *footprintSum) tenant(name string) int {
	i, known := s.at[name]
	if !known {
		i = len(s.out.Tenants)
		s.at[name] = i
		s.out.Tenants = append(s.out.Tenants, FootprintTenant{Name: name})
	}
	return i
}

// cell adds one cell; cells must come in order of time.
func (s *footprintSum) cell(k powerKey, t capcli.GPUTime, grid Carbon) error {
	if n := len(s.out.Months); n == 0 || monthOf(k.hour) != s.out.Months[n-1].Start {
		if err := s.close(); err != nil {
			return err
		}
		s.out.Months = append(s.out.Months, FootprintMonth{Name: k.hour.Std().Format("2006-01"), Start: monthOf(k.hour)})
		s.month, s.idle = make([]Footprint, len(s.out.Tenants)), Footprint{}
	}
	drawn, err := s.e.draw(s.e.power(k.model, !k.idle), t)
	if err != nil {
		return err
	}
	carbon, err := emit(drawn, grid)
	if err != nil {
		return err
	}
	f := Footprint{Energy: drawn, Carbon: carbon, Held: t}
	if k.idle {
		f.Held, f.Idle = 0, t
		s.idle.add(&f)
	} else {
		s.month[s.at[k.tenant]].add(&f)
	}
	month := &s.out.Months[len(s.out.Months)-1].Footprint
	month.add(&f)
	s.out.add(&f)
	if s.out.Energy > 1<<62 || s.out.Carbon > 1<<62 {
		return capcli.ErrOverflow
	}
	for i, at := range []**capcli.Time{&s.out.At80, &s.out.At100, &s.out.At120} {
		if s.out.Budget != nil && *at == nil && s.out.Carbon >= Carbon(float64(*s.out.Budget)/100*float64(alertPercents[i])) {
			*at = &k.hour
		}
	}
	return nil
}

// close ends a month. The money of the month is computed once and divided among the tenants by
// energy and carbon. Idle power is shared by the GPU time held.
func (s *footprintSum) close() error {
	n := len(s.out.Months)
	if n == 0 {
		return nil
	}
	month := &s.out.Months[n-1].Footprint
	var t tally
	month.PowerCost = t.mulDiv(int64(month.Energy), int64(s.e.Price), 1_000_000)
	month.CarbonCost = t.mulDiv(int64(month.Carbon), int64(s.e.CarbonPrice), int64(Tonne))
	if t.err != nil {
		return t.err
	}
	s.out.PowerCost += month.PowerCost
	s.out.CarbonCost += month.CarbonCost

	lines := append(slices.Clone(s.month), s.idle)
	energy, carbon, held := make([]int64, len(lines)), make([]int64, len(lines)), make([]int64, len(s.month))
	var all int64
	for i := range lines {
		energy[i], carbon[i] = int64(lines[i].Energy), int64(lines[i].Carbon)
		if i < len(held) {
			held[i] = int64(lines[i].Held)
			all += held[i]
		}
	}
	for i, c := range capcli.Split(month.PowerCost, energy) {
		lines[i].PowerCost = c
	}
	for i, c := range capcli.Split(month.CarbonCost, carbon) {
		lines[i].CarbonCost = c
	}
	for i := range s.month {
		s.out.Tenants[i].Direct.add(&lines[i])
	}
	if all == 0 {
		s.out.Unallocated.add(&lines[len(lines)-1])
		return nil
	}
	s.share(&lines[len(lines)-1], held)
	return nil
}

// share divides idle power among the tenants in proportion to what they held.
func (s *footprintSum) share(idle *Footprint, held []int64) {
	parts := make([]Footprint, len(held))
	for k, total := range idle.figures() {
		for i, v := range capcli.Split(capcli.USD(*total), held) {
			*parts[i].figures()[k] = int64(v)
		}
	}
	for i := range parts {
		s.out.Tenants[i].Share.add(&parts[i])
	}
}

// end closes the last month, and sums and sorts the tenants.
func (s *footprintSum) end() error {
	if err := s.close(); err != nil {
		return err
	}
	for i := range s.out.Tenants {
		t := &s.out.Tenants[i]
		t.Footprint = t.Direct
		t.add(&t.Share)
	}
	slices.SortFunc(s.out.Tenants, func(a, b FootprintTenant) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// OfRecord returns the footprint of a run that kept its hours. Capacity that a committed pool
// offered and nobody held, while it was up, idles: the idle time of each month is divided among
// the month's hours in proportion to what was not held in each. Capacity that is down draws
// nothing, elastic capacity draws only while it is held, and bought nodes while they are there.
func (e *Energy) OfRecord(rec *simulate.Record, until capcli.Time) (*Footprints, error) {
	if rec.Hourly == nil {
		return nil, fmt.Errorf("the run did not keep its use by hour; carbon goes by the hour")
	}
	m := e.Meter()
	for p, tenants := range rec.Hourly.Use {
		for t := range tenants {
			for i, held := range tenants[t].Used {
				if held > 0 {
					m.addHeld(rec.Hourly.First+capcli.Time(i)*hour, &rec.Pools[p], rec.Tenants[t], held)
				}
			}
		}
	}
	for p := range rec.Pools {
		switch {
		case rec.Pools[p].Buy != nil:
			for i, free := range rec.EmptyByHour(p) {
				if free > 0 {
					m.addIdle(rec.Hourly.First+capcli.Time(i)*hour, &rec.Pools[p], free)
				}
			}
		case rec.Pools[p].Terms.Committed():
			m.idlePool(rec, p, until)
		}
	}
	return m.Footprints()
}

// idlePool divides the idle time of each month of pool p among the month's hours.
func (m *powerMeter) idlePool(rec *simulate.Record, p int, until capcli.Time) {
	capacity := int64(rec.Pools[p].Capacity()) * int64(capcli.GPUSecond)
	for n := range rec.Months {
		idle := rec.Months[n].Pools[p].Idle + rec.Months[n].Pools[p].Blocked
		from, to := rec.Months[n].Start, until
		if n+1 < len(rec.Months) {
			to = rec.Months[n+1].Start
		}
		if idle <= 0 || to <= from {
			continue
		}
		var hours []capcli.Time
		var free []int64
		for at := hourOf(from); at < to; at += hour {
			length := int64(min(at+hour, to) - max(at, from))
			hours = append(hours, at)
			free = append(free, max(capacity*length-int64(heldIn(rec, p, at)), 0))
		}
		if slices.Max(free) == 0 {
			free[len(free)-1] = 1
		}
		for i, part := range capcli.Split(capcli.USD(idle), free) {
			if part > 0 {
				m.addIdle(hours[i], &rec.Pools[p], capcli.GPUTime(part))
			}
		}
	}
}

// heldIn returns what was held of pool p in the clock hour that begins at an instant.
func heldIn(rec *simulate.Record, p int, at capcli.Time) capcli.GPUTime {
	if p >= len(rec.Hourly.Use) {
		return 0
	}
	i := int((at - rec.Hourly.First) / hour)
	var sum capcli.GPUTime
	for t := range rec.Hourly.Use[p] {
		if used := rec.Hourly.Use[p][t].Used; i >= 0 && i < len(used) {
			sum += used[i]
		}
	}
	return sum
}

// OfUse returns the footprint of metered use. Each unit counts as a GPU.
func (e *Energy) OfUse(rec *UseRecord) (*Footprints, error) {
	m := e.Meter()
	for i := range rec.Lines {
		l := &rec.Lines[i]
		end := l.Start + capcli.Time(l.Seconds)
		for at := l.Start; at < end; {
			next := min(hourOf(at)+hour, end)
			m.AddHeld(at, l.SKU.GPUModel, l.Tenant, capcli.GPUTime(l.Units*int64(next-at)))
			at = next
		}
	}
	return m.Footprints()
}
