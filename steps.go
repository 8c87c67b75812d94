package capcli

import (
	"cmp"
	"slices"
)

// Steps is an integer level that changes over time. T is Time or Seconds. The zero
// value is 0 at all times.
type Steps[T ~int64] struct{ changes []levelChange[T] }

// levelChange is one change of a level.
type levelChange[T ~int64] struct {
	at T
	by int64
}

// Add raises the level by the given amount over [from, to).
func (s *Steps[T]) Add(from, to T, by int64) {
	s.changes = append(s.changes, levelChange[T]{from, by}, levelChange[T]{to, -by})
}

// Join adds the level of o to s.
func (s *Steps[T]) Join(o *Steps[T]) { s.changes = append(s.changes, o.changes...) }

// Level is a level that holds from a time on.
type Level[T ~int64] struct {
	At    T
	Level int64
}

// Levels returns the level after each time at which it changes, in order of time.
func (s *Steps[T]) Levels() []Level[T] {
	slices.SortFunc(s.changes, func(a, b levelChange[T]) int { return cmp.Compare(a.at, b.at) })
	var out []Level[T]
	var now int64
	for i, c := range s.changes {
		if now += c.by; i > 0 && c.at == s.changes[i-1].at {
			out[len(out)-1].Level = now
			continue
		}
		out = append(out, Level[T]{c.at, now})
	}
	return out
}

// Peak returns the highest level and the first time it is reached; 0 and 0 if the level is never
// above 0. At equal times, ends come before starts.
func (s *Steps[T]) Peak() (most int64, at T) {
	for _, l := range s.Levels() {
		if l.Level > most {
			most, at = l.Level, l.At
		}
	}
	return most, at
}

// NearestRank returns the nearest rank, from 1, of a percentile of n values: the rank of the
// smallest value with at least that share of the values at or below it.
func NearestRank[T ~int | ~int64](percent, n T) T { return (percent*n + 99) / 100 }
