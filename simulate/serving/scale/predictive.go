package scale

import (
	"errors"

	"capcli"
	"capcli/simulate"
)

// outlook are the settings of scalers that refit a model inside the run.
var outlookSettings = []Setting{
	{Name: "grain", Doc: "the series that is foreseen is in steps of this; default: 5m", Unit: Length, Default: 300, Lo: 1, Hi: maxSeconds},
	{Name: "season", Doc: "season of the load; default: 1d", Unit: Length, Default: 86400, Lo: 1, Hi: maxSeconds},
	{Name: "refit", Doc: "time between two fits of the model; default: 15m", Unit: Length, Default: 900, Lo: 1, Hi: maxSeconds},
}

func init() {
	add("predictive", "by a forecast that is refitted inside the run on what was seen", newPredictive, append([]Setting{
		{Name: "from", Doc: "plans for the highest load from this long ahead; default: 15m", Unit: Length, Default: 900, Hi: maxSeconds},
		{Name: "to", Doc: "to this long ahead; default: 30m", Unit: Length, Default: 1800, Lo: 1, Hi: maxSeconds},
		{Name: "percent", Doc: "use that it plans for, in percent; default: 80", Default: 80, Lo: 1e-6, Hi: 1e6},
		{Name: "hold", Doc: "a fall waits until it was wanted for so many steps, or such a length of time; default: 10", Unit: Steps, Default: 10, Hi: maxSteps},
	}, outlookSettings...)...)
}

// predictive foresees the load with a model that it fits again and again to what it has seen so far, and
// plans for the highest value of some time ahead, and for the load of the present grain if that is higher:
//
//	want = ceil(100 max(foreseen, present) / (per unit percent))
//
// Waiting requests are added to the present load. It rises at once and falls to the greatest want of the
// last hold steps. Without a forecast, the load of the present counts alone.
type predictive struct {
	min, max int
	from, to capcli.Seconds
	percent  float64
	hold     func(*simulate.ScaleState) int
	outlook  outlook
	recent   peaks
}

func newPredictive(v *values) (simulate.NewScaler, error) {
	p := predictive{
		min: v.Min, max: v.Max, from: v.seconds("from"), to: v.seconds("to"),
		percent: v.number("percent"), hold: v.holdSteps, outlook: v.outlook(),
	}
	if p.from >= p.to {
		return nil, fault("to", "wants more than from, %s; found %s", p.from, p.to)
	}
	return func() simulate.Scaler { own := p; return &own }, nil
}

// Desired implements simulate.Scaler.
func (p *predictive) Desired(s *simulate.ScaleState) int {
	p.outlook.see(s, float64(s.Load), p.to)
	need := p.outlook.present() + float64(s.Backlog)
	for _, x := range p.outlook.ahead(s.Now, p.from, p.to) {
		need = max(need, x)
	}
	want := clamp(units(need*100/(float64(s.PerUnit)*p.percent)), p.min, p.max)
	return p.recent.fall(s, want, p.hold(s))
}

// outlook is a series of means per step, in steps of a grain, and the forecast made of it.
type outlook struct {
	model        Forecaster
	grain, refit capcli.Seconds

	total   float64   // of the present grain
	steps   int       // of it
	mean    float64   // of the last full grain, or of the present one
	values  []float64 // of the full grains
	fitted  capcli.Seconds
	base    int       // number of values when the forecast was made
	foresee []float64 // from there on; nil is none
}

// outlook returns an empty outlook with the settings.
func (v *values) outlook() outlook {
	o := outlook{model: v.Forecaster, grain: v.seconds("grain"), refit: v.seconds("refit"), fitted: -1}
	if o.model == nil {
		o.model = SeasonalNaive{max(1, int(v.seconds("season")/o.grain))}
	}
	return o
}

// see adds a step's value, and fits the model again when it is time. The forecast reaches to a time ahead.
func (o *outlook) see(s *simulate.ScaleState, value float64, to capcli.Seconds) {
	o.total += value
	o.steps++
	if s.Now/o.grain == (s.Now-s.Length)/o.grain {
		return
	}
	for range s.Now/o.grain - (s.Now-s.Length)/o.grain { // a step may be longer than a grain
		o.values = append(o.values, o.total/float64(o.steps))
	}
	o.mean = o.total / float64(o.steps)
	o.total, o.steps = 0, 0
	if o.fitted >= 0 && s.Now-o.fitted < o.refit {
		return
	}
	o.fitted, o.base = s.Now, len(o.values)
	y, err := o.model.Foresee(o.values, int((to+o.refit)/o.grain)+2)
	if err != nil {
		y = nil
	}
	o.foresee = y
}

// present returns the mean value of the present time.
func (o *outlook) present() float64 {
	if o.steps == 0 {
		return o.mean
	}
	return max(o.mean, o.total/float64(o.steps))
}

// ahead returns the forecasts of the grains from one time ahead to another.
func (o *outlook) ahead(now, from, to capcli.Seconds) []float64 {
	lo := min(max(0, int((now+from)/o.grain)-o.base), len(o.foresee))
	hi := min(max(lo, int((now+to-1)/o.grain)-o.base+1), len(o.foresee))
	return o.foresee[lo:hi]
}

// SeasonalNaive foresees the value of a season before: see Hyndman and Athanasopoulos, "Forecasting:
// Principles and Practice", 5.2.
type SeasonalNaive struct {
	Season int // in values
}

// Foresee implements Forecaster. It fails for less than a season.
func (f SeasonalNaive) Foresee(y []float64, h int) ([]float64, error) {
	if len(y) < f.Season {
		return nil, errors.New("less than a season was seen")
	}
	out := make([]float64, h)
	for i := range out {
		out[i] = y[len(y)-f.Season+i%f.Season]
	}
	return out, nil
}
