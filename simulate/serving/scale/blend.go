package scale

import (
	"capcli"
	"capcli/simulate"
)

func init() {
	add("blend", "for pools of nodes: a share of 1.2 times the forecast of the next hour and of half the waiting GPU-hours", newBlend, append([]Setting{
		{Name: "factor", Doc: "of the forecast of the next hour; default: 1.2", Default: 1.2, Hi: 1000},
		{Name: "pending", Doc: "GPUs for each GPU-hour that waits; default: 0.5", Default: 0.5, Hi: 1000},
		{Name: "cap", Doc: "most GPUs for what waits", Hi: 1e9, Required: true},
		{Name: "share", Doc: "percentage of the target that spot capacity takes; default: 70", Default: 70, Hi: 100},
		{Name: "rest", Doc: "1: this pool takes what share leaves, 0: it takes the share; default: 0", Unit: Whole, Hi: 1},
		{Name: "over", Doc: "time of the forecast; default: 1h", Unit: Length, Default: 3600, Lo: 1, Hi: maxSeconds},
	}, outlookSettings...)...)
}

// blend provisions nodes before the queue grows. In GPUs:
//
//	target = factor × mean forecast of the next hour + min(pending × waiting GPU-hours, cap)
//
// What is foreseen is the GPUs that jobs hold, here and in the pools beside it; what waits is in the second
// term. Two pools split the target: spot capacity takes a share, the pool with rest what is left. Without a
// forecast, what is held now takes its place.
type blend struct {
	min, max             int
	factor, pending, cap float64
	share                float64 // of this pool, as a ratio
	over                 capcli.Seconds
	unit                 float64
	outlook              outlook
}

func newBlend(v *values) (simulate.NewScaler, error) {
	b := blend{
		min: v.Min, max: v.Max, factor: v.number("factor"), pending: v.number("pending"), cap: v.number("cap"),
		share: v.number("share"), over: v.seconds("over"), unit: v.demandUnit(), outlook: v.outlook(),
	}
	if v.count("rest") == 1 {
		b.share = 100 - b.share
	}
	return func() simulate.Scaler { own := b; return &own }, nil
}

// Desired implements simulate.Scaler.
func (b *blend) Desired(s *simulate.ScaleState) int {
	now := float64(s.Served+s.Elsewhere) / b.unit
	b.outlook.see(s, now, b.over)
	foreseen := now
	if ahead := b.outlook.ahead(s.Now, 0, b.over); len(ahead) > 0 {
		foreseen = 0
		for _, x := range ahead {
			foreseen += x / float64(len(ahead))
		}
	}
	target := b.factor*foreseen + min(b.pending*s.Pending.Hours(), b.cap)
	return clamp(units(target*b.share/100*b.unit/float64(s.PerUnit)), b.min, b.max)
}
