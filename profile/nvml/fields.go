//go:build linux && cgo && nvml

package nvml

import (
	"encoding/binary"
	"math"
	"time"

	driver "github.com/NVIDIA/go-nvml/pkg/nvml"

	"capcli/profile"
)

// field is a figure of GetFieldValues. One call returns all wanted fields.
type field struct {
	metric  profile.Metric
	id      uint32
	scope   uint32
	per     float64 // units of the metric per unit of the field
	counter bool    // the metric is the rate of this counter
	state   bool    // rarely changes: asked every five seconds
	role    role
}

type role uint8

const (
	plainly role = iota
	oneLink      // one NVLink: asked where the driver does not give the sum over all links
	resort       // last resort: asked where nothing else gives the metric
)

const (
	allLinks   = math.MaxUint32
	scopeGPU   = 0
	scopeBoard = 1 // power of the module, which includes the processor of a Grace host
	maxLinks   = 18
	numFields  = 9 + 2*maxLinks
	kib, bytes = 1.0 / 1024, 1.0 / (1 << 20)
)

// fieldTable lists the fields. Their units in nvml.h are mW, °C, errors, bytes and KiB.
var fieldTable = func() (t [numFields]field) {
	n := copy(t[:], []field{
		{metric: profile.Power, id: driver.FI_DEV_POWER_AVERAGE, scope: scopeGPU, per: 1e-3},
		{metric: profile.MemTemp, id: driver.FI_DEV_MEMORY_TEMP, per: 1},
		{metric: profile.ECCCorrected, id: driver.FI_DEV_ECC_SBE_VOL_TOTAL, per: 1, state: true},
		{metric: profile.ECCUncorrected, id: driver.FI_DEV_ECC_DBE_VOL_TOTAL, per: 1, state: true},
		{metric: profile.PCIeTx, id: driver.FI_DEV_PCIE_COUNT_TX_BYTES, per: bytes, counter: true},
		{metric: profile.PCIeRx, id: driver.FI_DEV_PCIE_COUNT_RX_BYTES, per: bytes, counter: true},
		{metric: profile.NVLinkTx, id: driver.FI_DEV_NVLINK_THROUGHPUT_DATA_TX, scope: allLinks, per: kib, counter: true},
		{metric: profile.NVLinkRx, id: driver.FI_DEV_NVLINK_THROUGHPUT_DATA_RX, scope: allLinks, per: kib, counter: true},
		{metric: profile.Power, id: driver.FI_DEV_POWER_AVERAGE, scope: scopeBoard, per: 1e-3, role: resort},
	})
	for link := range uint32(maxLinks) {
		t[n] = field{metric: profile.NVLinkTx, id: driver.FI_DEV_NVLINK_COUNT_XMIT_BYTES, scope: link, per: bytes, counter: true, role: oneLink}
		t[n+1] = field{metric: profile.NVLinkRx, id: driver.FI_DEV_NVLINK_COUNT_RCV_BYTES, scope: link, per: bytes, counter: true, role: oneLink}
		n += 2
	}
	return t
}()

// Indexes of fields in fieldTable that other code needs.
const (
	fieldPower   = 0
	fieldLinksTx = 6
	fieldLinksRx = 7
)

// sum is the sum of the counters of one metric in one tick.
type sum struct {
	total  uint64
	per    float64
	asked  bool
	broken bool // a counter is missing or blank
}

// fields reads the metrics for which GetFieldValues is the only or the best source.
func (g *gpu) fields(s *profile.Sample, o *order) {
	if !g.lib.has[symFields] {
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
			g.values[n] = driver.FieldValue{FieldId: f.id, ScopeId: f.scope}
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
				g.values[k].NvmlReturn = uint32(one)
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
	case f.role == resort:
		return g.neverField[fieldPower] && (g.never[powerGetter] || !g.lib.has[symPower])
	case f.role == oneLink && f.metric == profile.NVLinkTx:
		return g.neverField[fieldLinksTx]
	case f.role == oneLink:
		return g.neverField[fieldLinksRx]
	}
	return true
}

// field puts the value v of field i into s; c is the return code of the whole call.
func (g *gpu) field(s *profile.Sample, i int, v *driver.FieldValue, c code) {
	f := &fieldTable[i]
	if c == success {
		c = g.note(code(v.NvmlReturn))
	}
	if c != success {
		never := c == notSupported || c == invalidArgument || c == notFound
		g.neverField[i] = never
		switch {
		case never && f.role == oneLink: // an absent link adds nothing
			return
		case never:
			c = notSupported
		case f.counter:
			g.sums[f.metric].broken = true
		}
		g.miss(s, f.metric, c.reason())
		return
	}
	if !f.counter {
		put(s, f.metric, number(v)*f.per)
		return
	}
	t := &g.sums[f.metric]
	count, wide := counterValue(v)
	t.asked, t.per = true, f.per
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
			g.miss(s, metric, profile.OutOfRange)
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
	switch driver.ValueType(v.ValueType) {
	case driver.VALUE_TYPE_DOUBLE:
		return math.Float64frombits(binary.NativeEndian.Uint64(raw))
	case driver.VALUE_TYPE_UNSIGNED_INT:
		return float64(binary.NativeEndian.Uint32(raw))
	case driver.VALUE_TYPE_UNSIGNED_LONG, driver.VALUE_TYPE_UNSIGNED_LONG_LONG:
		return float64(binary.NativeEndian.Uint64(raw))
	case driver.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(int64(binary.NativeEndian.Uint64(raw)))
	case driver.VALUE_TYPE_SIGNED_INT:
		return float64(int32(binary.NativeEndian.Uint32(raw)))
	case driver.VALUE_TYPE_UNSIGNED_SHORT:
		return float64(binary.NativeEndian.Uint16(raw))
	default:
		return math.NaN()
	}
}

// counterValue returns the value of a 64-bit counter; wide is false for any other type. A 32-bit
// counter of bytes wraps within a tenth of a second on a fast link, an unknown number of times
// per tick.
func counterValue(v *driver.FieldValue) (count uint64, wide bool) {
	switch driver.ValueType(v.ValueType) {
	case driver.VALUE_TYPE_UNSIGNED_LONG, driver.VALUE_TYPE_UNSIGNED_LONG_LONG, driver.VALUE_TYPE_SIGNED_LONG_LONG:
		return binary.NativeEndian.Uint64(v.Value[:]), true
	default:
		return 0, false
	}
}
