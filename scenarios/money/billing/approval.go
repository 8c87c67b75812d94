package billing

import "fmt"

// Approval is one tier: By must sign for a purchase of fewer than Below GPUs. A Below of 0
// means any number.
type Approval struct {
	Below int64
	By    string
}

// Approvals are the tiers in increasing order of Below. Only the last may be for any number.
type Approvals []Approval

// Check returns the first fault of the tiers in words, or "".
func (a Approvals) Check() string {
	for i, x := range a {
		switch {
		case x.By == "":
			return fmt.Sprintf("tier %d names nobody", i+1)
		case x.Below < 0:
			return fmt.Sprintf("tier %d is below %d GPUs", i+1, x.Below)
		case x.Below == 0 && i < len(a)-1:
			return fmt.Sprintf("tier %d is for any number of GPUs, so those after it are never asked", i+1)
		case i > 0 && x.Below > 0 && x.Below <= a[i-1].Below:
			return fmt.Sprintf("tiers must grow, but below %d comes after below %d", x.Below, a[i-1].Below)
		}
	}
	return ""
}

// Find returns the tier that must sign for a purchase of a number of GPUs. It returns false
// where the number is 0 or less, and where no tier may sign for it.
func (a Approvals) Find(gpus int64) (Approval, bool) {
	if gpus <= 0 {
		return Approval{}, false
	}
	for _, x := range a {
		if x.Below == 0 || gpus < x.Below {
			return x, true
		}
	}
	return Approval{}, false
}

// Signature is the approval that a purchase needs.
type Signature struct {
	GPUs  int64   `json:"committed_gpus"`
	By    *string `json:"by"`         // nil where nobody must sign, or nobody may
	Below *int64  `json:"below_gpus"` // upper bound of the tier; nil means any number
}

// Signature returns the approval that a purchase of a number of GPUs needs; nil where there are
// no approvals.
func (a Approvals) Signature(gpus int64) *Signature {
	if len(a) == 0 {
		return nil
	}
	out := &Signature{GPUs: gpus}
	if x, ok := a.Find(gpus); ok {
		out.By = &x.By
		if x.Below > 0 {
			out.Below = &x.Below
		}
	}
	return out
}

// Say returns a sentence on who must sign for a purchase of a number of GPUs; "" where there
// are no approvals.
func (a Approvals) Say(gpus int64) string {
	if len(a) == 0 {
		return ""
	}
	x, ok := a.Find(gpus)
	what := fmt.Sprintf("%d GPUs", gpus)
	if gpus == 1 {
		what = "1 GPU"
	}
	switch {
	case gpus <= 0:
		return "nothing is bought: nobody must sign"
	case !ok:
		return fmt.Sprintf("%s: nobody may sign for that many (the last tier is below %d)", what, a[len(a)-1].Below)
	case x.Below == 0:
		return fmt.Sprintf("%s: %s must sign", what, x.By)
	}
	return fmt.Sprintf("%s: %s must sign (below %d)", what, x.By, x.Below)
}
