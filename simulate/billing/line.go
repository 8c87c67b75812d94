package billing

import (
	"capcli"
	"capcli/simulate"
)

// Line is what some capacity cost over some time, and what became of it. Lines
// add up.
type Line struct {
	Cost capcli.USD // Direct + Idle + Blocked + Down

	Direct  capcli.USD // for time that jobs held, with minimum billing times
	Idle    capcli.USD // for committed time that nobody held or waited for
	Blocked capcli.USD // for committed time that nobody held while a job waited that could not start
	Down    capcli.USD // for committed time that was not to be had

	Equivalent capcli.USD     // billed time at on-demand prices, where these are known
	Unlisted   capcli.GPUTime // billed time whose on-demand price is not known

	Time   simulate.Span
	Billed capcli.GPUTime // Time.Used, and what minimum billing times add
}

// Slot is what becomes of GPU time that is paid.
type Slot int

// The slots, in the order of the glossary.
const (
	SlotHeld Slot = iota
	SlotIdle
	SlotBlocked
	SlotDown
)

// String returns the name of the slot: held, idle, blocked, down.
func (s Slot) String() string { return [...]string{"held", "idle", "blocked", "down"}[s] }

// InSlot returns the cost and the GPU time of the line in a slot. What minimum billing
// times add to on-demand and spot time is idle time, but is paid as held.
func (l *Line) InSlot(s Slot) (capcli.USD, capcli.GPUTime) {
	switch s {
	case SlotHeld:
		return l.Direct, l.Time.Used
	case SlotIdle:
		return l.Idle, l.Time.Idle
	case SlotBlocked:
		return l.Blocked, l.Time.Blocked
	case SlotDown:
	}
	return l.Down, l.Time.Down
}

// Stranded is the cost of committed capacity that nobody held.
func (l *Line) Stranded() capcli.USD { return l.Idle + l.Blocked + l.Down }

// UnitCost is the cost of a GPU-hour used, rounded half up to the millionth;
// false when none was used.
func (l *Line) UnitCost() (capcli.Rate, bool) {
	return perUnit(l.Cost, 1000*uint64(capcli.Hour), uint64(l.Time.Used))
}

// SavingsRate is the effective savings rate, 1 - cost / on-demand equivalent
// (FinOps Foundation); false when no time was billed, or some of it has no
// known on-demand price. It is below 0 where the mix costs more than all
// on-demand would have.
func (l *Line) SavingsRate() (float64, bool) {
	if l.Unlisted > 0 || l.Equivalent == 0 {
		return 0, false
	}
	return 1 - float64(l.Cost)/float64(l.Equivalent), true
}

// add sums two lines. Price has made sure that no sum overflows.
func (l *Line) add(o *Line) {
	l.Cost += o.Cost
	l.Direct += o.Direct
	l.Idle += o.Idle
	l.Blocked += o.Blocked
	l.Down += o.Down
	l.Equivalent += o.Equivalent
	l.Unlisted += o.Unlisted
	l.Time.Add(o.Time)
	l.Billed += o.Billed
}
