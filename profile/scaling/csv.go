package scaling

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"capcli"
)

// header are the columns of a curve. The first three are what shapes of a scenario and plan width read; job_type
// chooses one of several works there.
var header = []string{"gpu_model", "gpus", "steps_per_s", "job_type", "unit", "runs", "low", "high", "speedup", "efficiency"}

// WriteCSV writes the curves as a table of measured rates, which shapes of a scenario and plan width read.
func (r *Result) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(header); err != nil {
		return err
	}
	for _, c := range r.Curves {
		for _, p := range c.Points {
			row := []string{p.Model, strconv.Itoa(p.GPUs), decimal(p.PerS), c.Name, c.Unit, strconv.Itoa(p.Runs), decimal(p.Low), decimal(p.High), decimal(p.Speedup), decimal(p.Efficiency)}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// decimal writes a figure to six digits, without an exponent.
func decimal(f capcli.Figure) string {
	v := float64(f)
	if v <= 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	places := 5 - int(math.Floor(math.Log10(v)))
	return strconv.FormatFloat(v, 'f', min(max(places, 0), 12), 64)
}
