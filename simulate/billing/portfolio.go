package billing

import "capcli"

// Portfolio is the commitments that a record of use is priced under. The order
// of its commitments does not matter.
type Portfolio struct {
	Currency    string // "" is USD; must be that of the use
	Commitments []Commitment
}

// Commitment is one contract: a product, from when to when, who owns it, what
// use it is for, and what is paid for it.
type Commitment struct {
	ID         string
	Start, End capcli.Time // End is not part of the term
	Currency   string      // "" is that of the portfolio
	Owner      string      // the account that bought it; benefits go to its use first
	Scope      Scope
	Fees       Fees
	Product    Product
	Escape     Escape
	Exit       Exit // that it was left before its end: see Terminate and Resell
}

// Scope is the use that a commitment is for. An empty field matches any.
type Scope struct {
	Provider, Region, Zone              string
	Account                             string // this account only; else all share the benefit
	Family, Size, GPUModel, Service, OS string
}

// Matches tells whether use of a SKU by an account is in scope.
func (s *Scope) Matches(u *SKU, account string) bool {
	return fits(s.Provider, u.Provider) && fits(s.Region, u.Region) && fits(s.Zone, u.Zone) &&
		fits(s.Account, account) && fits(s.Family, u.Family) && fits(s.Size, u.Size) &&
		fits(s.GPUModel, u.GPUModel) && fits(s.Service, u.Service) && (s.OS == "" || osOf(s.OS) == osOf(u.OS))
}

func fits(want, have string) bool { return want == "" || want == have }

// osOf is the operating system, linux where none is named.
func osOf(s string) string {
	if s == "" {
		return "linux"
	}
	return s
}

// Fees are what a commitment costs over its whole term, all its units together.
// Every part of it is paid whether the commitment is used or not.
type Fees struct {
	Upfront  capcli.USD  // at the start
	Hourly   capcli.Rate // for each hour of the term, by the second
	Monthly  capcli.USD  // at the start and each month after it until the end
	Residual capcli.USD  // comes back at the end: what an owned machine is still worth
}

// Escape is the way out of a commitment before its end.
type Escape struct {
	Every  capcli.Seconds // it may be reduced or exchanged each so long after its start; 0 is never
	Refund int64          // thousandths of the unexpired value that come back, less the fee
	Fee    capcli.USD     // flat, for leaving
	// Limit is the most that one owner may get back in any 12 months, over all its
	// commitments of the provider (Azure: 50,000 dollars); 0 is without limit.
	Limit capcli.USD
}
