// Package outward is the way out to addresses that people enter: only to hosts of a list,
// only to addresses that the list lets them have, within a time, and with no more of the
// answer than is needed. A name is looked up once, and the address that is connected to is
// the one that was checked.
package outward
