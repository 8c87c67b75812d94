//go:build linux && cgo

package nvml

import (
	"encoding/binary"
	"math"
	"time"

	"capcli/profile"
	"capcli/profile/nvml/driver"
)

// field is a figure of GetFieldValues. One call returns all wanted fields.
type field struct {
	metric  profile.Metric
	id      uint32
	scope   uint32
	per     float64 // units of the metric per unit of the field
	counter bool    // the metric is the rate of this counter
	sums    bool    // the metric is the sum of its fields
	state   bool    // rarely changes: asked every five seconds
	role    role
}

type role uint8

const (
	plainly role = iota
	oneLink      // one NVLink: asked where the driver does not give the sum over all links
	resort       // last resort: asked where nothing else gives the metric
	extra        // adds to the sum where the driver has it; its absence says nothing
)

const (
	allLinks   = math.MaxUint32
	scopeGPU   = 0
	scopeBoard = 1 // power of the module, which includes the processor of a Grace host
	maxLinks   = 18
	numFields  = 23 + 5*maxLinks
	kib, bytes = 1.0 / 1024, 1.0 / (1 << 20)
	ns         = 1e-6 // ms
)

// fieldTable lists the fields. Their units in nvml.h are mW, °C, errors, bytes, KiB and ns.
var fieldTable = func() (t [numFields]field) {
	n := copy(t[:], []field{
		{metric: profile.Power, id: driver.FieldPowerAverage, scope: scopeGPU, per: 1e-3},
		{metric: profile.MemTemp, id: driver.FieldMemoryTemp, per: 1},
		{metric: profile.ECCCorrected, id: driver.FieldECCCorrected, per: 1, state: true},
		{metric: profile.ECCUncorrected, id: driver.FieldECCUncorrected, per: 1, state: true},
		{metric: profile.PCIeTx, id: driver.FieldPCIeTxBytes, per: bytes, counter: true},
		{metric: profile.PCIeRx, id: driver.FieldPCIeRxBytes, per: bytes, counter: true},
		{metric: profile.NVLinkTx, id: driver.FieldLinkTx, scope: allLinks, per: kib, counter: true},
		{metric: profile.NVLinkRx, id: driver.FieldLinkRx, scope: allLinks, per: kib, counter: true},
		{metric: profile.Power, id: driver.FieldPowerAverage, scope: scopeBoard, per: 1e-3, role: resort},
		// The times under a cap in software, and with the clocks halved by hardware.
		{metric: profile.ThrottlePower, id: driver.FieldPowerCap, per: ns, sums: true, state: true},
		{metric: profile.ThrottlePower, id: driver.FieldHardwareBrake, per: ns, sums: true, state: true, role: extra},
		{metric: profile.ThrottleThermal, id: driver.FieldSoftwareThermal, per: ns, sums: true, state: true},
		{metric: profile.ThrottleThermal, id: driver.FieldHardwareThermal, per: ns, sums: true, state: true, role: extra},
		{metric: profile.ThrottleThermal, id: driver.FieldThermalCap, per: ns, sums: true, state: true, role: resort},
		{metric: profile.PCIeReplays, id: driver.FieldPCIeReplays, per: 1, state: true},
		{metric: profile.RowsRemapped, id: driver.FieldRowsCorrected, per: 1, sums: true, state: true},
		{metric: profile.RowsRemapped, id: driver.FieldRowsUncorrected, per: 1, sums: true, state: true},
		{metric: profile.RowsPending, id: driver.FieldRowsPending, per: 1, state: true},
		// Totals over all links, to NVLink 4; Blackwell has counters of each link instead.
		{metric: profile.NVLinkErrors, id: driver.FieldLinkCRCFlit, per: 1, sums: true, state: true},
		{metric: profile.NVLinkErrors, id: driver.FieldLinkCRCData, per: 1, sums: true, state: true, role: extra},
		{metric: profile.NVLinkErrors, id: driver.FieldLinkReplay, per: 1, sums: true, state: true, role: extra},
		{metric: profile.NVLinkErrors, id: driver.FieldLinkRecovery, per: 1, sums: true, state: true, role: extra},
		{metric: profile.NVLinkErrors, id: driver.FieldLinkECCData, per: 1, sums: true, state: true, role: extra},
	})
	for link := range uint32(maxLinks) {
		for k, id := range [...]uint32{
			driver.FieldOneLinkRxErrors, driver.FieldOneLinkDiscards, driver.FieldOneLinkRecovered,
		} {
			t[23+2*maxLinks+3*int(link)+k] = field{metric: profile.NVLinkErrors, id: id, scope: link, per: 1, sums: true, state: true, role: oneLink}
		}
		t[n] = field{metric: profile.NVLinkTx, id: driver.FieldOneLinkTxBytes, scope: link, per: bytes, counter: true, role: oneLink}
		t[n+1] = field{metric: profile.NVLinkRx, id: driver.FieldOneLinkRxBytes, scope: link, per: bytes, counter: true, role: oneLink}
		n += 2
	}
	return t
}()

// Indexes of fields in fieldTable that other code needs.
const (
	fieldPower      = 0
	fieldLinksTx    = 6
	fieldLinksRx    = 7
	fieldHot        = 11
	fieldLinkErrors = 18
)

// sum is the sum of the fields of one metric in one tick.
type sum struct {
	total  uint64
	per    float64
	asked  bool
	plain  bool // the metric is the sum itself, not its rate
	broken bool // a field is missing or blank
}

// fields reads the metrics for which GetFieldValues is the only or the best source.
func (g *gpu) fields(s *profile.Sample, o *order) {
	if !g.lib.lib.Has(driver.SymFields) {
		for i := range fieldTable {
			g.miss(s, fieldTable[i].metric, profile.NoSymbol)
		}
		return
	}
	n := 0
	for i := range fieldTable {
		f := &fieldTable[i]
		switch {
		case g.neverField[i]:
			if f.role == plainly && !g.gpmGives[f.metric] {
				g.miss(s, f.metric, profile.Unsupported)
			}
		case g.wants(i, o):
			g.values[n] = driver.FieldValue{FieldID: f.id, ScopeID: f.scope}
			g.which[n] = uint8(i)
			n++
		}
	}
	if n == 0 {
		return
	}
	at := g.clock()
	c := g.note(code(g.handle.GetFieldValues(g.values[:n])))
	if c == invalidArgument && n > 1 {
		// The driver refuses the whole call for one unknown field: ask for each alone.
		for k := range n {
			if one := g.note(code(g.handle.GetFieldValues(g.values[k : k+1]))); one != success {
				g.values[k].Return = driver.Return(one)
			}
		}
		c = success
	}
	if g.failed() {
		return
	}
	g.sums = [profile.NumMetrics]sum{}
	for k := range n {
		g.field(s, int(g.which[k]), &g.values[k], c)
	}
	g.putRates(s, at)
}

func (g *gpu) clock() time.Duration {
	_, now := g.now()
	return now
}

// wants reports whether field i is asked in this tick.
func (g *gpu) wants(i int, o *order) bool {
	f := &fieldTable[i]
	switch {
	case f.state && !o.state:
		return false
	case f.counter && g.gpmGives[f.metric]:
		g.rates[f.metric].forget()
		return false
	case f.role == resort && f.metric == profile.Power:
		return g.neverField[fieldPower] && (g.never[powerGetter] || !g.lib.lib.Has(driver.SymPower))
	case f.role == resort:
		return g.neverField[fieldHot]
	case f.role == oneLink:
		return g.neverField[firstOfLinks(f.metric)]
	}
	return true
}

// firstOfLinks returns the field of all links whose absence makes those of single links be asked.
func firstOfLinks(m profile.Metric) int {
	switch m {
	case profile.NVLinkTx:
		return fieldLinksTx
	case profile.NVLinkRx:
		return fieldLinksRx
	default:
		return fieldLinkErrors
	}
}

// field puts the value v of field i into s; c is the return code of the whole call.
func (g *gpu) field(s *profile.Sample, i int, v *driver.FieldValue, c code) {
	f := &fieldTable[i]
	if c == success {
		c = g.note(code(v.Return))
	}
	if c != success {
		never := c == notSupported || c == invalidArgument || c == notFound
		g.neverField[i] = never
		switch {
		case never && (f.role == oneLink || f.role == extra): // what is absent adds nothing
			return
		case never:
			c = notSupported
		case f.counter, f.sums:
			g.sums[f.metric].broken = true
		}
		g.miss(s, f.metric, c.reason())
		return
	}
	if !f.counter && !f.sums {
		put(s, f.metric, number(v)*f.per)
		return
	}
	t := &g.sums[f.metric]
	count, wide := counterValue(v)
	if f.sums { // how many errors there were; such a counter does not go round
		n := number(v)
		if wide = n >= 0 && n < 1<<63; wide {
			count = uint64(n)
		}
	}
	t.asked, t.per, t.plain = true, f.per, f.sums
	t.total += count
	t.broken = t.broken || !wide || count == math.MaxUint64
}

// putRates puts the rates of the counters of this tick; at is the time of the call.
func (g *gpu) putRates(s *profile.Sample, at time.Duration) {
	for m := range g.sums {
		t, metric := &g.sums[m], profile.Metric(m)
		switch {
		case t.broken:
			g.rates[m].forget()
			if worth(s.Why[metric]) < worth(profile.OutOfRange) { // the code of the field that is missing says more
				g.miss(s, metric, profile.OutOfRange)
			}
		case t.asked && t.plain:
			put(s, metric, float64(t.total)*t.per)
		case t.asked:
			v, why := g.rates[m].takeCount(t.total, at)
			if why == profile.Known {
				put(s, metric, v*t.per)
			} else {
				g.miss(s, metric, why)
			}
		}
	}
}

// number returns the value of a field of any type; NaN where the type is not known.
func number(v *driver.FieldValue) float64 {
	raw := v.Value[:]
	switch v.ValueType {
	case driver.ValueDouble:
		return math.Float64frombits(binary.NativeEndian.Uint64(raw))
	case driver.ValueUnsignedInt:
		return float64(binary.NativeEndian.Uint32(raw))
	case driver.ValueUnsignedLong, driver.ValueUnsignedLongLong:
		return float64(binary.NativeEndian.Uint64(raw))
	case driver.ValueSignedLongLong:
		return float64(int64(binary.NativeEndian.Uint64(raw)))
	case driver.ValueSignedInt:
		return float64(int32(binary.NativeEndian.Uint32(raw)))
	case driver.ValueUnsignedShort:
		return float64(binary.NativeEndian.Uint16(raw))
	default:
		return math.NaN()
	}
}

// counterValue returns the value of a 64-bit counter; wide is false for any other type. A 32-bit
// counter of bytes wraps within a tenth of a second on a fast link, an unknown number of times
// per tick.
func counterValue(v *driver.FieldValue) (count uint64, wide bool) {
	switch v.ValueType {
	case driver.ValueUnsignedLong, driver.ValueUnsignedLongLong, driver.ValueSignedLongLong:
		return binary.NativeEndian.Uint64(v.Value[:]), true
	default:
		return 0, false
	}
}
