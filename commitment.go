package capcli

// Properties say what a product that is bought ahead does. They stack: a capacity reservation
// guarantees, and a savings plan beside it covers it.
type Properties struct {
	// Covers says that it lowers the price of any matching use, hour by hour, whatever runs where.
	// What an hour does not use is lost.
	Covers bool `json:"covers"`
	// Guarantees says that the capacity is there when it is wanted. Any matching machine of the
	// buyer takes it up first.
	Guarantees bool `json:"guarantees"`
	// Fenced says that only jobs that are put there can use it: it is a place.
	Fenced bool `json:"fenced"`
}

// Floats reports whether a product is a bill and no place: it covers and is not fenced.
func (p Properties) Floats() bool { return p.Covers && !p.Fenced }
