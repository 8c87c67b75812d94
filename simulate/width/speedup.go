package width

import (
	"fmt"
	"math/big"

	"capcli"
)

// Point is a number of GPUs and the run time of a job on them.
type Point struct {
	GPUs int
	Run  capcli.Seconds
}

// Amdahl is a job of which a share runs on one GPU at a time (Amdahl, AFIPS 1967). On n GPUs of a model it
// takes OneGPU / speed x (Serial + (1 - Serial) / n).
type Amdahl struct {
	OneGPU capcli.Seconds // run time on one GPU of speed 1
	Serial *big.Rat       // share of OneGPU that does not get faster with more GPUs, from 0 to 1
}

// Run returns the run time on a number of GPUs of a model, rounded up to whole seconds. A model of speed 2
// is twice as fast as one of speed 1. It fails where that is no run time that a job can have.
func (a *Amdahl) Run(gpus int, speed *big.Rat) (capcli.Seconds, error) {
	if gpus < 1 {
		return 0, fmt.Errorf("wants 1 GPU or more, found %d", gpus)
	}
	if speed.Sign() <= 0 {
		return 0, fmt.Errorf("wants a speed over 0, found %s", speed.RatString())
	}
	if one := big.NewRat(1, 1); a.Serial.Sign() < 0 || a.Serial.Cmp(one) > 0 {
		return 0, fmt.Errorf("wants a serial share from 0 to 1, found %s", a.Serial.RatString())
	}
	parallel := new(big.Rat).Sub(big.NewRat(1, 1), a.Serial)
	parallel.Quo(parallel, big.NewRat(int64(gpus), 1))
	time := parallel.Add(parallel, a.Serial)
	time.Mul(time, big.NewRat(int64(a.OneGPU), 1))
	return RoundUp(time.Quo(time, speed))
}

// RunOfSteps returns the run time of a job of so many steps at a rate in steps a second, rounded up to whole
// seconds. A rate of 0 means that the job does not run there: ok is false then. It fails where the run time
// is longer than capcli.MaxSeconds.
func RunOfSteps(steps int64, rate *big.Rat) (run capcli.Seconds, ok bool, err error) {
	switch {
	case steps <= 0:
		return 0, false, fmt.Errorf("wants steps over 0, found %d", steps)
	case rate.Sign() < 0:
		return 0, false, fmt.Errorf("wants a rate of 0 or more, found %s", rate.RatString())
	case rate.Sign() == 0:
		return 0, false, nil
	}
	run, err = RoundUp(new(big.Rat).Quo(big.NewRat(steps, 1), rate))
	return run, err == nil, err
}

// RoundUp rounds seconds up to whole seconds. It fails where that is not from 1 to capcli.MaxSeconds.
func RoundUp(seconds *big.Rat) (capcli.Seconds, error) {
	whole, rest := new(big.Int).QuoRem(seconds.Num(), seconds.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if whole.Sign() <= 0 || whole.Cmp(big.NewInt(int64(capcli.MaxSeconds))) > 0 {
		return 0, fmt.Errorf("wants a run time from 1 to %d s, found %s", capcli.MaxSeconds, whole)
	}
	return capcli.Seconds(whole.Int64()), nil
}

// ParseDecimal reads a decimal number exactly: 2.5, 0.05, 497.2952582330656. It takes no fractions, no
// infinities, and no exponents beyond three digits.
func ParseDecimal(text string) (*big.Rat, error) {
	if len(text) > 64 || len(text) == 0 {
		return nil, fmt.Errorf("wants a number, found %s", capcli.Quoted(text))
	}
	exponent := false
	for i, c := range []byte(text) {
		switch {
		case c >= '0' && c <= '9', c == '.', c == '-' && i == 0:
		case (c == 'e' || c == 'E') && !exponent && i > 0 && len(text)-i <= 4:
			exponent = true
		case (c == '-' || c == '+') && exponent:
		default:
			return nil, fmt.Errorf("wants a number, found %s", capcli.Quoted(text))
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("wants a number, found %s", capcli.Quoted(text))
	}
	return r, nil
}
