package forecast

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"capcli"
	"capcli/forecast/decompose"
	"capcli/forecast/model"
)

// thief forecasts a series at the length of its steps and, as sums of blocks of steps, at longer
// lengths, and reconciles these over time with structural weights (temporal hierarchies:
// Athanasopoulos, Hyndman, Kourentzes & Petropoulos 2017): short steps show the season, long
// ones the trend. It forecasts the steps by MSTL with the optimised Theta method where there are
// several seasons, else by Theta, and the blocks by Theta. Intervals and paths are those of the
// steps, moved as the means are. The cycle is the longest season of which the past has four;
// without any, the forecast is that of the steps alone.
type thief struct{ Options }

var _ model.Model = thief{}

// fewestCycles is the least number of cycles in the past.
const fewestCycles = 4

// cycle returns the length of the longest season with enough cycles in n values, and the lengths
// of the blocks, longest first: all divisors of a cycle of up to 12 steps, and the seasons that
// divide a longer one. It returns 1 and nil where there is no such season.
func (m thief) cycle(n int) (length int, blocks []int) {
	seasons := decompose.UsableSeasons(n, m.Seasons)
	for len(seasons) > 0 && n/seasons[len(seasons)-1] < fewestCycles {
		seasons = seasons[:len(seasons)-1]
	}
	if len(seasons) == 0 {
		return 1, nil
	}
	length = seasons[len(seasons)-1]
	for b := length; b > 1; b-- {
		if length%b == 0 && (length <= 12 || slices.Contains(seasons, b)) {
			blocks = append(blocks, b)
		}
	}
	return length, blocks
}

// Fit fits the steps and the blocks.
func (m thief) Fit(y capcli.Series) (model.Fitted, error) {
	n := len(y.Values)
	name := "theta"
	if len(decompose.UsableSeasons(n, m.Seasons)) > 1 {
		name = "mstl-dot"
	}
	steps, err := m.fit(name, y, m.Seasons)
	if err != nil {
		return nil, fmt.Errorf("thief: %w", err)
	}
	f := &thiefFitted{Fitted: steps, moves: map[int][]float64{}, low: math.Inf(-1)}
	if slices.Min(y.Values) >= 0 {
		f.low = 0
	}
	f.cycle, f.blocks = m.cycle(n)
	for _, b := range f.blocks {
		sums := y
		sums.Values = blockSums(y.Values, b)
		var seasons []int
		if f.cycle/b > 1 {
			seasons = []int{f.cycle / b}
		}
		fit, err := m.fit("theta", sums, seasons)
		if err != nil {
			return nil, fmt.Errorf("thief: sums of %d steps: %w", b, err)
		}
		f.levels = append(f.levels, fit)
	}
	if f.cycle == 1 {
		return f, nil
	}
	if f.project, err = blockProjection(f.cycle, append(slices.Clone(f.blocks), 1)); err != nil {
		return nil, fmt.Errorf("thief: %w", err)
	}
	return f, nil
}

// blockProjection returns the matrix that computes the steps of one cycle from the forecasts of
// its blocks, in the order of lengths: (S'W^-1 S)^-1 S'W^-1, where S sums steps to blocks and W
// is the diagonal of the number of steps in each block. A cycle is short, so the matrix is
// computed in full.
func blockProjection(cycle int, lengths []int) (*mat.Dense, error) {
	var sums, sizes []float64
	for _, length := range lengths {
		for from := 0; from < cycle; from += length {
			row := make([]float64, cycle)
			for j := from; j < from+length; j++ {
				row[j] = 1
			}
			sums, sizes = append(sums, row...), append(sizes, float64(length))
		}
	}
	s, w := mat.NewDense(len(sizes), cycle, sums), mat.NewSymDense(len(sizes), nil)
	for i, size := range sizes {
		w.SetSym(i, i, size)
	}
	var inverse, normal mat.SymDense
	var weighted, product, project mat.Dense
	var chol mat.Cholesky
	chol.Factorize(w)
	if err := chol.InverseTo(&inverse); err != nil && !model.IsCondition(err) {
		return nil, fmt.Errorf("%w: %w", err, model.ErrUnfit)
	}
	weighted.Mul(s.T(), &inverse)
	product.Mul(&weighted, s)
	normal.ReuseAsSym(cycle)
	for i := range cycle {
		for j := i; j < cycle; j++ {
			normal.SetSym(i, j, (product.At(i, j)+product.At(j, i))/2)
		}
	}
	chol.Factorize(&normal)
	if err := chol.SolveTo(&project, &weighted); err != nil && !model.IsCondition(err) {
		return nil, fmt.Errorf("%w: %w", err, model.ErrUnfit)
	}
	return &project, nil
}

func (m thief) fit(name string, y capcli.Series, seasons []int) (model.Fitted, error) {
	made, err := Models.Get(name)
	if err != nil {
		return nil, err
	}
	return made(Options{Seasons: seasons, Seed: m.Seed}).Fit(y)
}

type thiefFitted struct {
	model.Fitted                // the fit to the steps
	levels       []model.Fitted // the fits to the blocks, by blocks
	blocks       []int          // lengths of the blocks in steps, longest first
	cycle        int            // length of the cycle in steps
	project      *mat.Dense     // from blockProjection; nil where only the steps are forecast
	low          float64        // least value of a forecast; -Inf is none

	mu    sync.Mutex
	moves map[int][]float64 // results of move, by number of cycles
}

// move returns how much the reconciliation changes each of h steps. It returns zeros
// where the figures overflow, and fails where a level cannot be forecast.
func (f *thiefFitted) move(h int) ([]float64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	cycles := (h + f.cycle - 1) / f.cycle
	if f.project == nil {
		return make([]float64, h), nil
	}
	if known := f.moves[cycles]; known != nil {
		return known, nil
	}
	var levels [][]float64 // longest blocks first, the steps last
	for k, fit := range f.levels {
		fc, err := fit.Forecast(cycles * f.cycle / f.blocks[k])
		if err != nil {
			return nil, fmt.Errorf("thief: sums of %d steps: %w", f.blocks[k], err)
		}
		levels = append(levels, fc.Mean)
	}
	steps, err := f.Fitted.Forecast(cycles * f.cycle)
	if err != nil {
		return nil, fmt.Errorf("thief: %w", err)
	}
	levels = append(levels, steps.Mean)
	out := make([]float64, cycles*f.cycle)
	for c := range cycles {
		var y []float64
		for _, v := range levels {
			each := len(v) / cycles
			y = append(y, v[c*each:(c+1)*each]...)
		}
		if i := slices.IndexFunc(y, func(v float64) bool { return !model.IsFinite(v) }); i >= 0 {
			return nil, fmt.Errorf("thief: block %d: %w", i+1, model.ErrMissing)
		}
		for i := range f.cycle {
			out[c*f.cycle+i] = model.Dot(f.project.RawRowView(i), y) - steps.Mean[c*f.cycle+i]
		}
	}
	if slices.ContainsFunc(out, func(v float64) bool { return !model.IsFinite(v) }) {
		clear(out)
	}
	f.moves[cycles] = out
	return out, nil
}

// Forecast returns the forecast of the steps, moved to the reconciled means.
func (f *thiefFitted) Forecast(h int, levels ...float64) (model.Forecast, error) {
	fc, err := f.Fitted.Forecast(h, levels...)
	if err != nil {
		return fc, err
	}
	by, err := f.move(h)
	if err != nil {
		return fc, err
	}
	for _, list := range fc.Figures() {
		for i := range list {
			list[i] = math.Max(f.low, list[i]+by[i])
		}
	}
	fc.Bound()
	return fc, nil
}

// Path returns a path of the steps, moved to the reconciled means.
func (f *thiefFitted) Path(h int, rng model.Noise) []float64 {
	out := f.Fitted.Path(h, rng)
	by, err := f.move(max(1, h))
	if err != nil {
		return out
	}
	for i := range out {
		out[i] = math.Max(f.low, out[i]+by[i])
	}
	return out
}

// Info describes the fit to the steps and the lengths of the blocks.
func (f *thiefFitted) Info() model.Info {
	info := f.Fitted.Info()
	if f.project != nil {
		info.Method = fmt.Sprintf("THieF(%v): %s", append(slices.Clone(f.blocks), 1), info.Method)
	}
	return info
}

// blockSums returns the sums of v over blocks of length steps that end where v ends. Values left
// over at the start are dropped. A block with a missing value is missing.
func blockSums(v []float64, length int) []float64 {
	v = v[len(v)%length:]
	out := make([]float64, len(v)/length)
	for i, x := range v {
		out[i/length] += x
	}
	return out
}
