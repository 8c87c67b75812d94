package billing

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"capcli"
)

// Energy says what power GPUs draw, and what it costs in money and carbon.
type Energy struct {
	Held, Idle  int64 // milliwatts of a GPU that is held, and of one that is up and is not
	Models      []ModelPower
	PUE         int64       // thousandths: power of the building for each watt of a GPU; 0 is 1000
	Price       capcli.Rate // of a kilowatt-hour
	CarbonPrice capcli.USD  // of a tonne of CO2e
	Budget      Carbon      // for the whole time; 0 is none
	Intensity   Intensity
}

// ModelPower is the power of one GPU model, in place of the others'.
type ModelPower struct {
	GPUModel   string
	Held, Idle int64
}

// MilliWh is energy in thousandths of a watt-hour.
type MilliWh int64

// KWh gives e in kilowatt-hours.
func (e MilliWh) KWh() float64 { return float64(e) / 1e6 }

// MarshalJSON writes e in kilowatt-hours, exactly.
func (e MilliWh) MarshalJSON() ([]byte, error) {
	return []byte(AmountOf(capcli.USD(e)).String()), nil
}

// Carbon is CO2 equivalent in milligrams.
type Carbon int64

// Gram and Tonne are amounts of carbon.
const (
	Gram  Carbon = 1000
	Tonne Carbon = 1_000_000_000
)

// Kg gives c in kilograms.
func (c Carbon) Kg() float64 { return float64(c) / 1e6 }

// MarshalJSON writes c in kilograms, exactly.
func (c Carbon) MarshalJSON() ([]byte, error) { return []byte(AmountOf(capcli.USD(c)).String()), nil }

// Intensity is the carbon of a kilowatt-hour from the grid: one figure, or a
// series by the hour.
type Intensity struct {
	Flat   Carbon // of a kilowatt-hour, where there is no series
	series []intensityStep
	end    capcli.Time
}

type intensityStep struct {
	at   capcli.Time
	grid Carbon
}

// IntensityOf makes an intensity of a series in grams for a kilowatt-hour.
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
	if n := len(samples); n > 0 { // the last value holds for as long as the shortest did
		if n == 1 {
			step = hour
		}
		x.end = samples[n-1].At + step
	}
	return x, nil
}

// At is the carbon of a kilowatt-hour at an instant. Outside the series the same
// hour of the nearest year that the series has counts; moved says so. False where
// no year has it.
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

// Footprint is what some use drew: GPU time, energy, carbon and what these cost.
type Footprint struct {
	Held       capcli.GPUTime `json:"held_gpu_hours"`
	Idle       capcli.GPUTime `json:"idle_gpu_hours"`
	Energy     MilliWh        `json:"energy_kwh"`
	Carbon     Carbon         `json:"co2e_kg"`
	PowerCost  capcli.USD     `json:"power_usd"`
	CarbonCost capcli.USD     `json:"carbon_usd"`
}

func (f *Footprint) add(o *Footprint) {
	f.Held += o.Held
	f.Idle += o.Idle
	f.Energy += o.Energy
	f.Carbon += o.Carbon
	f.PowerCost += o.PowerCost
	f.CarbonCost += o.CarbonCost
}

// power is the power of a GPU of a model in milliwatts.
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

// draw is what GPU time at a power comes to with the building's share, rounded
// half up to the milliwatt-hour.
func (e *Energy) draw(milliwatts int64, t capcli.GPUTime) (MilliWh, error) {
	pue := e.PUE
	if pue == 0 {
		pue = 1000
	}
	if milliwatts > 0 && pue > math.MaxInt64/milliwatts {
		return 0, capcli.ErrOverflow
	}
	v, err := mulDiv(int64(t), milliwatts*pue, 1000*3600*1000)
	return MilliWh(v), err
}

// emit is the carbon of energy at an intensity, rounded half up to the milligram.
func emit(e MilliWh, grid Carbon) (Carbon, error) {
	v, err := mulDiv(int64(e), int64(grid), 1_000_000)
	return Carbon(v), err
}
