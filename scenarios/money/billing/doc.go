// Package billing prices the record of a run: who held which GPUs, when and on which terms.
// Pricing never repeats the run, so one run can be priced under a thousand rates.
//
// The unit of account is the cell: one pool in one month. The terms of the pool decide what the
// cell costs and how much of that cost is for time that nobody held. Every table of an invoice
// (by tier, terms, pool, month, tenant) is a sum over the same cells. Each cell is rounded
// once, so all tables add up to the invoice to the millionth of a dollar.
//
// # Portfolios
//
// Discounts are settled by the clock hour. A UseRecord is metered use, by the second.
// UseRecord.Hours gathers it by the clock hour. A Portfolio of Commitments is applied to those
// hours: a Bill has every row and conserves what was paid, a Quoter gives only the total, for
// thousands of portfolios a second. PriceUnder prices a run whose on-demand pools have such
// discounts, and its tables still add up.
//
// # Bills in other formats
//
// ReadUse reads metered use from CSV, or from a bill in FOCUS, which package focus parses.
// FocusRows writes a Bill, or the Invoice of a run, in FOCUS.
//
// # Products
//
// A product is a kind of commitment. Each has one file, product_*.go, with the provider's rule
// and the page that states it. To add a product, add such a file: a type with the methods of
// Product, and an init that adds it to Products with a valid example. The tests check every
// example against the laws of bills. The fields by which a scenario or a portfolio names the
// product are in scenarios/portfolio_bought.go.
package billing
