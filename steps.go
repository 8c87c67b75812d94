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

// Add raises the level over [from, to).
func (s *Steps[T]) Add(from, to T, by int64) {
	s.changes = append(s.changes, levelChange[T]{from, by}, levelChange[T]{to, -by})
}

// Join adds the level of o.
func (s *Steps[T]) Join(o *Steps[T]) { s.changes = append(s.changes, o.changes...) }

// Peak returns the highest level and when it is first reached, 0 and 0 when it is never
// above 0. What ends at a time makes room for what begins then.
func (s *Steps[T]) Peak() (most int64, at T) {
	slices.SortFunc(s.changes, func(a, b levelChange[T]) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by))
	})
	var now int64
	for _, c := range s.changes {
		if now += c.by; now > most {
			most, at = now, c.at
		}
	}
	return most, at
}

// NearestRank returns the nearest rank, from 1, of a percentile of n values: the
// smallest value with at least that share of the values at or below it.
func NearestRank[T ~int | ~int64](percent, n T) T { return (percent*n + 99) / 100 }
