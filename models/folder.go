package models

// The files of the data folder, beside those that SQLite makes.
const (
	DatabaseFile  = "countersign.db"
	HeadEnd       = "-head"        // ends the name of the file beside it that keeps the ledger's head
	SetupLinkFile = "setup-link"   // the one-time setup link, where there is no terminal
	AddressFile   = "address"      // where the server that runs can be reached
	BackupFile    = "last-backup"  // its time is when a backup was last made
	HoldersFile   = "holders"      // locks in it tell which processes live
	KeyFile       = "upstream.key" // seals the keys of upstreams and the targets of channels
	PushKeyFile   = "push.key"     // the key by which push services know this server
	// ReserveFile takes space in the data folder that is given back when the disk is
	// full, so that people can still sign in and reject.
	ReserveFile = "reserve"
)

// A page of a list has DefaultPage rows unless asked otherwise, and at most MaxPage.
const (
	DefaultPage = 50
	MaxPage     = 200
)

// SystemAuthor is the author of policy versions that no person wrote: the initial one, and those that end a switch at
// its time.
const SystemAuthor = "Countersign"
