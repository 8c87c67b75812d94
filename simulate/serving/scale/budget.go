package scale

import "capcli/simulate"

// Budget is a guard: what happens once the units have cost so much.
type Budget struct {
	Hours float64 // unit-hours, those of loading units included
	Then  string  // what happens then: stop, degrade or queue
	Keep  int     // degrade: the units that stay
}

// The words of Budget.Then: no unit is left; Keep units are left; or no unit is added, so that requests wait.
const (
	BudgetStop    = "stop"
	BudgetDegrade = "degrade"
	BudgetQueue   = "queue"
)

func (b *Budget) check() error {
	switch {
	case b == nil:
		return nil
	case !(b.Hours > 0 && b.Hours <= 1e12):
		return fault("budget", "wants hours above 0, found %v", b.Hours)
	case b.Then != BudgetStop && b.Then != BudgetDegrade && b.Then != BudgetQueue:
		return fault("budget", "then wants stop, degrade or queue, found %q", b.Then)
	case (b.Keep > 0) != (b.Then == BudgetDegrade) || b.Keep < 0 || b.Keep > maxUnits:
		return fault("budget", "keep wants the units that stay, with then: degrade, and nothing else; found %d", b.Keep)
	}
	return nil
}

// budgetLimit applies a Budget. It looks at the end of a step, so that the cost passes the budget by at
// most a step of the units there are.
type budgetLimit struct{ *Budget }

func (b *budgetLimit) bound(s *simulate.ScaleState, want int) int {
	if float64(s.Spent) < b.Hours*1000 {
		return want
	}
	switch b.Then {
	case BudgetStop:
		return 0
	case BudgetDegrade:
		return min(want, b.Keep)
	default:
		return min(want, s.Ready+s.Loading)
	}
}
