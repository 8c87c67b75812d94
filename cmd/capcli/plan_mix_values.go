package main

import (
	"strconv"

	"capcli/simulate/plan/mix"
)

// mixesPerValue is with how many values of the other axes a value is tried before
// it is taken on trust.
const mixesPerValue = 200

// checkValues refuses a value with which no mix is valid, such as a slip among
// numbers: left out in silence, it would be missed by nobody. A number may well
// make no valid mix, such as 0 GPUs in the only pool: it is left out and counted.
func (m *mixPlan) checkValues() error {
	space := &m.problem.Space
	for a := range space.Axes {
		if space.Axes[a].Ordered {
			continue
		}
		for v, text := range space.Axes[a].Values {
			if _, err := strconv.ParseFloat(text, 64); err == nil {
				continue
			}
			if err := m.checkValue(a, v); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkValue is why no mix with value v on axis a is valid; nil where one is, or
// where they are too many to tell.
func (m *mixPlan) checkValue(a, v int) error {
	space := &m.problem.Space
	at := make([]int, len(space.Axes))
	at[a] = v
	var first error
	for range mixesPerValue {
		_, err := m.candidate(space.Index(at))
		if !is[*mix.InvalidError](err) {
			return nil // valid, or told where it is run
		}
		if first == nil {
			first = err
		}
		if !nextBeside(space, at, a) {
			return m.failed(first)
		}
	}
	return nil
}

// nextBeside goes to the next values of all axes but one; false after the last.
func nextBeside(space *mix.Space, at []int, fixed int) bool {
	for i := range at {
		if i == fixed {
			continue
		}
		if at[i]++; at[i] < len(space.Axes[i].Values) {
			return true
		}
		at[i] = 0
	}
	return false
}
